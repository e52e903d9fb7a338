"""Models of every container for the package transformers, without an intermediate file.

    state = tare.transformers.state_dict("model.gguf")
    model = MistralForCausalLM.from_pretrained(None, config=tare.transformers.config("model.gguf"), state_dict=state)

or, for the class that transformers would choose, tare.transformers.from_pretrained("model.gguf", auto=AutoModelForCausalLM).
"""

import collections.abc
import fnmatch
import json
import warnings

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


def state_dict(path, rename=None, *, verify=False):
    """What from_pretrained(None, config=..., state_dict=...) takes, of a model in any container.

    Tensors have the names and the order of rows that they have in a directory which `tare.convert` makes of the model.
    `rename`: a function from these names to others. `verify`: as in tare.open.
    """
    return StateDict(_usual(path, verify), rename)


def config(path):
    """The configuration of a model: that of the directory which `tare.convert` makes of it."""
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
        facts = json.loads(model._settings().get("config.json", "{}"))
        # Packed weights are decoded in the state dict, so transformers must not decode them again.
        if "quantization_config" in facts and any(tensor.layout != "dense" for tensor in model.tensors()):
            del facts["quantization_config"]
        return facts
    finally:
        if own:
            model.close()


def from_pretrained(path, auto=None, *, allow_missing=(), verify=False, **options):
    """A model of transformers from a file of any container: the one that transformers makes of the directory which
    `tare.convert` makes of the file. `auto`: the class, by default AutoModelForCausalLM.

    A weight that the file lacks is an error (transformers would fill it with random numbers), unless its name matches a glob
    of `allow_missing`: the new head of a classifier, say. Tensors that the class does not use are a warning. `verify`: digests
    that the file has are compared.
    """
    if auto is None:
        from transformers import AutoModelForCausalLM as auto  # noqa: N813
    model = _usual(path, verify)
    made = config(model)
    kind = class_for(auto, made) if hasattr(auto, "_model_mapping") else auto
    state = _state_for(model, options.get("device_map"))
    if getattr(made, "dtype", None) is None:
        made.dtype = _dtype_of(model)
    wants_info = options.pop("output_loading_info", False)
    net, info = kind.from_pretrained(None, config=made, state_dict=state, output_loading_info=True, **options)
    _require_all(path, kind, info, [allow_missing] if isinstance(allow_missing, str) else allow_missing)
    _set_generation(net, model)
    return (net, info) if wants_info else net


def _usual(path, verify=False):
    """The model with Hugging Face's names."""
    return path._like(usual_names=True, verify=verify) if isinstance(path, Model) else _open(path, usual_names=True, verify=verify)


def _dtype_of(model):
    """The type that transformers assumes for a directory whose config.json does not state one: that of the first weights."""
    for name in sorted(model):
        dtype = _torch.dtype(model.tensor(name))
        if dtype.is_floating_point and dtype.itemsize > 1:  # transformers cannot build a model with an 8-bit type
            return dtype
    return None


def _require_all(path, kind, info, allowed):
    missing = [name for name in sorted(info["missing_keys"]) if not any(fnmatch.fnmatchcase(name, glob) for glob in allowed)]
    if missing:
        raise ValueError(
            f"{_name(path)}: {kind.__name__} has {len(missing)} weights that the file lacks: {_some(missing)}; "
            "allow_missing= names those that may be new"
        )
    if unexpected := sorted(info["unexpected_keys"]):
        warnings.warn(f"{_name(path)}: {kind.__name__} does not use {_some(unexpected)}", stacklevel=3)


def _name(path):
    return path.path if isinstance(path, Model) else path


def _some(names):
    return ", ".join(names[:8]) + (f" and {len(names) - 8} more" if len(names) > 8 else "")


def _set_generation(net, model):
    """Sets the generation config, as transformers reads it from a directory."""
    text = model._settings().get("generation_config.json")
    if text is None or not getattr(net, "can_generate", bool)():
        return
    from transformers import GenerationConfig

    net.generation_config = GenerationConfig.from_dict(json.loads(text))


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
    """The tensors, already on the GPU if the whole model goes to one."""
    if isinstance(place, dict):
        place = place[""] if set(place) == {""} else None
    model = _usual(path)
    if not _torch._is_gpu(place):
        return StateDict(model)
    if isinstance(place, int):
        place = f"cuda:{place}"
    return _torch.to_device(model, place)
