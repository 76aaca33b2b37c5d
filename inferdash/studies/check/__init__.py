"""How far the numbers are to be trusted, and what they were made of."""
