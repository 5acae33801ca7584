"""Files on disk: atomic writes, tensors with a checksum, resumable folders, and a cache."""
