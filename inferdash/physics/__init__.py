"""What inference takes: parameters, passes, cache, memory, time. Everything here is at full speed: the limit."""
