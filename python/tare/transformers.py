"""Models of every container for the package transformers, without an intermediate file.

    state = tare.transformers.state_dict("model.gguf")
    model = MistralForCausalLM.from_pretrained(None, config=tare.transformers.config("model.gguf"), state_dict=state)

or, for the class that transformers would choose, tare.transformers.from_pretrained("model.gguf", auto=AutoModelForCausalLM).
"""

import fnmatch
import json
import warnings

from . import torch as _torch
from ._model import Model
from ._model import open as _open
from ._state_dict import LazyTensor, StateDict  # noqa: F401: for callers, too


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
    """Loads a model of transformers from any container: the model that transformers would load from the directory that
    `tare.convert` would write. `auto` is the class, by default AutoModelForCausalLM.

    A weight that the file lacks is an error (transformers would fill it with random numbers), unless its name matches a glob of
    `allow_missing`, for example that of a new classifier's head. Tensors that the class does not use are a warning. `verify`
    compares the digests that the file has.
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
