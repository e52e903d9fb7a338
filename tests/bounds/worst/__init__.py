"""Files that ask for as much work as they can, one builder each, for every container: a module each.

A builder takes a directory and a number of bytes and writes a file, or a directory, of about that size; it returns the
path. Its name describes its content. Nothing here uses the library: a false file is made byte by byte.
"""
import importlib
import pkgutil

from worst.common import CASES

__all__ = ["CASES"]

for module in sorted(module.name for module in pkgutil.iter_modules(__path__)):
    importlib.import_module("worst." + module)
