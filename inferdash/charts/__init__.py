"""Rows in, chart out: each function builds one Altair specification whose data is sent apart from it.

A specification never changes with the scenario, so the browser keeps the drawing and moves only its marks.
"""
