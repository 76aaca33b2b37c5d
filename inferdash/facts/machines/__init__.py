"""What models run on: accelerators and engines, their memory and their power."""
