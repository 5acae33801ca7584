"""Files on disk: atomic writes, tensors with a checksum, resumable folders, and a cache.

All files of a run are written and read with these functions.
"""
