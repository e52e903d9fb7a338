#!/usr/bin/env python3
"""Records what the configuration classes of the installed transformers library state by default, for every type that
src/run computes: `tests/arch/settings.py` adds to tests/run/class_settings.json. The test RunSettings.* reads it: no class
has a key that is unknown to src/arch/run_settings.cpp, or of another kind. Run it with several versions."""
import json
import os

from transformers import CONFIG_MAPPING, __version__

TYPES = """deepseek_v2 deepseek_v3 glm4 gpt_oss gemma gemma2 gemma3_text granite llama ministral3 mistral mixtral olmo olmo2 olmo3 phi3 qwen2 qwen2_moe qwen3 qwen3_moe
           smollm3""".split()
PATH = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../run/class_settings.json")


def main():
    recorded = []
    if os.path.exists(PATH):
        with open(PATH) as file:
            recorded = [one for one in json.load(file) if one["transformers"] != __version__]
    for name in TYPES:
        if name in CONFIG_MAPPING:
            recorded.append({"transformers": __version__, "config": CONFIG_MAPPING[name]().to_dict()})
    with open(PATH, "w") as file:
        file.write("[\n" + ",\n".join(json.dumps(one, sort_keys=True) for one in recorded) + "\n]\n")


main()
