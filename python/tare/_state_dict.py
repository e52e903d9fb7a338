"""Mappings from names to torch tensors that are made when they are asked for."""

import collections.abc

import torch

from . import _torch_tensors
from ._dtypes import SAFETENSORS


class LazyTensor:
    """A tensor that becomes a torch tensor by `[...]`; what transformers asks of a slice of a safetensors file."""

    def __init__(self, tensor):
        self._tensor = tensor
        self.dtype = _torch_tensors.dtype(tensor)

    @property
    def shape(self):
        return torch.Size(self._tensor.shape)

    def get_shape(self):
        return list(self._tensor.shape)

    def get_dtype(self):
        return SAFETENSORS.get(self._tensor.type, "F32")

    @property
    def ndim(self):
        return self._tensor.ndim

    def dim(self):
        return self._tensor.ndim

    def numel(self):
        return self._tensor.size

    def nelement(self):
        return self._tensor.size

    def size(self, dimension=None):
        return self.shape if dimension is None else self.shape[dimension]

    def is_floating_point(self):
        return self.dtype.is_floating_point

    @property
    def device(self):
        return torch.device("cpu")

    def __getitem__(self, key):
        if key is Ellipsis or (isinstance(key, slice) and key == slice(None)):
            return _torch_tensors.tensor(self._tensor)
        return _torch_tensors.part(self._tensor, key)

    def to(self, *arguments, **options):
        return self[...].to(*arguments, **options)

    def __repr__(self):
        return f"<lazy {self._tensor!r}>"


class StateDict(collections.abc.Mapping):
    """Names and lazy tensors, in the order of the file. Each is read when it is used, and by any number of threads."""

    def __init__(self, model, rename=None):
        self._model = model
        self._names = {(rename(name) if rename else name): name for name in model}

    def __getitem__(self, name):
        return LazyTensor(self._model.tensor(self._names[name]))

    def __iter__(self):
        return iter(self._names)

    def __len__(self):
        return len(self._names)

    def __contains__(self, name):
        return name in self._names

    def copy(self):
        return dict(self)

    def __repr__(self):
        return f"<state dict of {self._model!r}>"
