"""What makers of logs call their counts, declared; one reader for all of them."""
