#!/usr/bin/env python3
"""Records what the configuration classes of the installed transformers library state by default, for every type that
src/run computes: `tests/arch/settings.py` adds to tests/run/class_settings.json. The test RunSettings.* reads it: no class
has a key that is unknown to src/arch/run_settings.cpp, or of another kind. Run it with several versions."""
import json
import os

from transformers import CONFIG_MAPPING, __version__

TYPES = """arcee cohere cohere2 deepseek_v2 deepseek_v3 dots1 ernie4_5 ernie4_5_moe exaone4 gemma gemma2 gemma3_text glm4 glm4_moe
           glm4_moe_lite gpt2 gpt_neox gpt_oss granite granitemoe hunyuan_v1_dense jais2 lfm2 llama minimax_m2 ministral3 mistral mixtral nemotron
           olmo olmo2 olmo3 olmoe phi phi3 qwen2 qwen2_moe qwen3 qwen3_5_moe_text qwen3_5_text qwen3_moe qwen3_next seed_oss smollm3 stablelm
           starcoder2""".split()
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
