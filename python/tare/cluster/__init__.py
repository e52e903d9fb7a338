"""Plans on clusters: tare.cluster.ray and tare.cluster.dask."""

import importlib


def __getattr__(name):
    if name in ("ray", "dask"):
        return importlib.import_module(f"{__name__}.{name}")
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
