"""How files of requests are read: what a line says, whether it was told before, and which lines are left out."""
