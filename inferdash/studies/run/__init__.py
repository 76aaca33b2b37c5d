"""What it takes to run a model oneself."""
