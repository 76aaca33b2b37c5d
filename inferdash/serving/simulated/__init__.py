"""Requests over time, from event to event: who comes, waits, shares a pass, and what became of each."""
