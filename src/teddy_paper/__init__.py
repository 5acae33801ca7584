"""The reproduction of the paper on top of the library, run by ``teddy reproduce``.

Each table or figure is a module that names its sweeps and turns their results into tables, charts
and findings beside the published numbers.
"""
