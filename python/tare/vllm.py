"""A plug-in for vLLM: `vllm serve model.gguf --load-format tare`.

vLLM finds it by the entry point `vllm.general_plugins` and calls `register` in each of its processes.
"""

import os

from . import torch as _torch
from ._model import open as _open
from ._work import formats as _formats


def register():
    """Registers the load format `tare` in vLLM."""
    from vllm.model_executor.model_loader import register_model_loader

    try:
        from vllm.model_executor.model_loader.base_loader import BaseModelLoader
    except ImportError:
        from vllm.model_executor.model_loader import BaseModelLoader

    @register_model_loader("tare")
    class TareModelLoader(BaseModelLoader):
        def __init__(self, load_config):
            super().__init__(load_config)
            extra = dict(getattr(load_config, "model_loader_extra_config", None) or {})
            self._verify = bool(extra.pop("verify", False))
            if extra:
                raise ValueError(f"the load format tare has no option {', '.join(map(repr, sorted(extra)))}")

        def download_model(self, model_config):
            find(model_config)

        def load_weights(self, model, model_config):
            model.load_weights(weights(find(model_config), verify=self._verify))

    return TareModelLoader


def find(model_config):
    """The file or directory that holds the weights: `model_weights`, or `model`, or the only model file in that folder."""
    path = getattr(model_config, "model_weights", None) or model_config.model
    if not os.path.exists(path):
        raise FileNotFoundError(f"{path} does not exist; --load-format tare reads local files")
    if not os.path.isdir(path):
        return path
    names = sorted(os.listdir(path))
    if any(name.endswith(".safetensors") for name in names):
        return path
    suffixes = tuple(suffix for format in _formats() for suffix in format["suffixes"] if suffix.startswith("."))
    files = [name for name in names if name.endswith(suffixes)]
    if len(files) == 1:
        return os.path.join(path, files[0])
    return path


def weights(path, *, verify=False):
    """Pairs of a name, as Hugging Face has it, and a torch tensor; each is read when it is its turn. On a GPU where vLLM works
    on one, in windows, so that the weights are there twice only in part. verify: as in tare.open;
    `--model-loader-extra-config '{"verify": true}'`."""
    import torch

    with _open(path, usual_names=True, arrays=True, verify=verify) as model:  # vLLM decodes what its config calls packed
        place = torch.get_default_device() if hasattr(torch, "get_default_device") else torch.device("cpu")
        if place.type == "cuda":
            yield from _torch.iterate(model, place)
            return
        for name in model:
            yield name, _torch.tensor(model.tensor(name))
