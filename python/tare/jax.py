"""Pytrees of JAX arrays: see tare.numpy."""

from . import numpy as _numpy
from .numpy import flat

__all__ = ["flat", "tree"]


def tree(source, separator=".", *, verify=False):
    """Nested dicts of JAX arrays. verify: as in tare.open."""
    import jax

    return jax.tree_util.tree_map(jax.numpy.asarray, _numpy.tree(source, separator, verify=verify))
