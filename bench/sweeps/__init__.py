"""What `make sweep` runs, a file a topic."""
