"""What models are: their shape, their number formats, and the files of makers from which they are read."""
