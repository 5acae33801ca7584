"""Layers of PyTorch Geometric on the compiled kernels, with no change of the module.

A layer with linear messages becomes a product with a sparse matrix.
"""

from teddy.layers.acceleration import Acceleration, accelerate, layer_fields, layer_text

__all__ = ["Acceleration", "accelerate", "layer_fields", "layer_text"]
