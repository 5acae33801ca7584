"""Files: atomic writes, tensors with a checksum, folders that resume, and a cache.

Everything that the library keeps on disk is written and read here.
"""
