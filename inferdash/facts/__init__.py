"""What is: models, accelerators, number formats, each with its source and the day it was checked."""
