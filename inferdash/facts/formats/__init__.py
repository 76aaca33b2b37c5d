"""Number formats by module: which matrices of a model a checkpoint keeps in which format."""
