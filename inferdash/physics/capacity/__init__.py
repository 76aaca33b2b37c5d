"""What memory holds: parameters, caches, what an engine keeps for itself."""
