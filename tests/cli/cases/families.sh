# the table grows with every family; these rows stay
tare families | grep -E '^(GGUF|llama|gemma-embedding) '
tare families MixtralForCausalLM
tare families gemma3_text
tare families lama
tare families --json | python3 -c 'import json, sys; d = json.load(sys.stdin); print(sorted(d), d["families"][0])'
tare families qwen3 --markdown
tare families --json --markdown
