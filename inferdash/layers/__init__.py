"""What one layer is and takes: a file a part of the layer, a class a kind.

A kind is a small validated value that knows its parameters, its cache and its operations. A model is a list of
blocks of such kinds, so a new kind is one class here and its name in the union below it.
"""
