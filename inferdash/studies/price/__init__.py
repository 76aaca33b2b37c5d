"""What it costs through an API."""
