"""A scenario in; a page's numbers, sentence and rows out. A file a page."""
