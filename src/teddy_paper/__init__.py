"""Reproduction of the paper with the library, run by ``teddy reproduce``.

Each table or figure is a module that declares its sweeps and turns their results into tables,
charts and findings beside the published numbers.
"""
