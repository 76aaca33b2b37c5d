"""Logs as columns: sums of whole blocks of lines, or of a table where it lies, by any engine that speaks SQL."""
