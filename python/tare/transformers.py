"""Models of every container for the package transformers, without an intermediate file.

    state = tare.transformers.state_dict("model.gguf")
    model = MistralForCausalLM.from_pretrained(None, config=tare.transformers.config("model.gguf"), state_dict=state)

or, for the class that transformers would choose, tare.transformers.from_pretrained("model.gguf", auto=AutoModelForCausalLM).
"""

import collections.abc
import json

from . import torch as _torch
from ._model import Model
from ._model import open as _open


class LazyTensor:
    """A tensor that becomes a torch tensor by `[...]`; what transformers asks of a slice of a safetensors file."""

    def __init__(self, tensor):
        self._tensor = tensor
        self.dtype = _torch.dtype(tensor)

    @property
    def shape(self):
        import torch

        return torch.Size(self._tensor.shape)

    def get_shape(self):
        return list(self._tensor.shape)

    def get_dtype(self):
        from .safetensors import DTYPES

        return DTYPES.get(self._tensor.type, "F32")

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
        import torch

        return torch.device("cpu")

    def __getitem__(self, key):
        if key is Ellipsis or (isinstance(key, slice) and key == slice(None)):
            return _torch.tensor(self._tensor)
        return _torch.part(self._tensor, key)

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


def state_dict(path, rename=None):
    """What from_pretrained(None, config=..., state_dict=...) takes, of a model in any container.

    Tensors have Hugging Face's names, also those of a GGUF file. `rename`: a function from these to others.
    """
    model = path if isinstance(path, Model) else _open(path, usual_names=True)
    return StateDict(model, rename)


def config(path):
    """The configuration of a model: from its config.json, or else from the hyper-parameters that the container states."""
    from transformers import AutoConfig

    facts = config_dict(path)
    kind = facts.pop("model_type", None)
    if kind is None:
        raise ValueError(f"{path}: the file does not say of which type the model is")
    return AutoConfig.for_model(kind, **facts)


def config_dict(path):
    """The same as a dict."""
    own = not isinstance(path, Model)
    model = _open(path) if own else path
    try:
        facts = json.loads(model.attachments["config.json"]) if "config.json" in model.attachments else dict(model.config)
        # Packed weights come out of the state dict decoded: nothing is left for transformers to unpack.
        if "quantization_config" in facts and any(tensor.layout != "dense" for tensor in model.tensors()):
            del facts["quantization_config"]
        return facts
    finally:
        if own:
            model.close()


def from_pretrained(path, auto=None, **options):
    """A model of transformers from a file of any container. `auto`: the class, by default AutoModelForCausalLM."""
    if auto is None:
        from transformers import AutoModelForCausalLM as auto  # noqa: N813
    made = config(path)
    kind = class_for(auto, made) if hasattr(auto, "_model_mapping") else auto
    return kind.from_pretrained(None, config=made, state_dict=_state_for(path, options.get("device_map")), **options)


def class_for(auto, config):
    """The class that an Auto class of transformers would choose for a configuration.

    AutoModel.from_pretrained(None, config=..., state_dict=...) itself does not work in transformers 5: it asks whether None is a
    directory before it chooses, and the class that it chooses takes a state dict only without a name.
    """
    try:
        found = auto._model_mapping[type(config)]
    except KeyError:
        raise ValueError(f"{auto.__name__} has no class for {type(config).__name__}") from None
    if not isinstance(found, (list, tuple)):
        return found
    named = {kind.__name__: kind for kind in found}
    return next((named[name] for name in getattr(config, "architectures", None) or () if name in named), found[0])


def _state_for(path, place):
    """The tensors, on the GPU already if all of the model goes to one."""
    if isinstance(place, dict):
        place = place[""] if set(place) == {""} else None
    if not _torch._is_gpu(place) or isinstance(path, Model):
        return state_dict(path)
    if isinstance(place, int):
        place = f"cuda:{place}"
    with _open(path, usual_names=True) as model:
        return _torch.to_device(model, place)
