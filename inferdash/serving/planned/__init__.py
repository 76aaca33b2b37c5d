"""Set-ups that a service may be built from: scored, chosen, confirmed, and the commands that start them."""
