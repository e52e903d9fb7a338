"""Model.to. It is not in _model.py because the modules that it uses open models themselves."""


def to(self, device, names=None, dtype=None, verify=False):
    """The tensors in the memory of a GPU, as a dict: of torch's if torch is installed, else of objects for DLPack.

    dtype: what floats are cast and quantized tensors decoded to, on the device. verify: compare digests on the way.
    """
    try:
        from . import torch
    except ImportError:
        from . import device as others

        return others.load(self, device, names, dtype, verify)
    return torch.to_device(self, device, names, dtype, verify)
