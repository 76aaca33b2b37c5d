"""What it costs: tokens at a price, with and without a cache."""
