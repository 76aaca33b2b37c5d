"""What a reader enters: fields, files, measurements, variants."""
