"""Benchmarks: speed as ratios measured in turn in one process (``make bench``)."""
