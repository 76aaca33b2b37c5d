"""The fit of the engines of presets/engines/ to the results of presets/measured/, by theme."""
