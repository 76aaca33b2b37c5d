"""What inference takes, and why."""
