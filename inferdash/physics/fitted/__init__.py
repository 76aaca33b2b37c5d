"""What is expected beside the limit: fitted to published measurements, with how far it may be off."""
