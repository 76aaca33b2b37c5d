"""What one layer is and takes: a file a kind.

A kind is a small validated value that knows its parameters, its cache, its operations, and how a model's
config.json writes it. A model is a list of blocks of such kinds. A new kind is one file here and its name in
`kinds`.
"""
