# operands in another order, an option in the place of the verb
tare demo . -q > /dev/null; tare mistral convert a.gguf
tare convert a.gguf mistral
tare convert modle.zt tiny.zt
tare convert a.gguf tiny.zt --force
tare quantize q4_k_m mistral a.gguf
tare show lm_head.weight mistral
tare cat w tiny.zt
tare -q mistral
tare --json ls tiny.zt
tare -- tiny.zt | head -1
tare --all
tare --frobnicate tiny.zt
# one file too many, a tensor that is missing, or has another name here
tare ls tiny.zt model.zt
tare meta tiny.zt key value
tare show mistral
tare show mistral 'model.layers.*'
tare show mistral blk.0.attn_q.weight
tare cat mistral layers.1.attention.wq.weight
# patterns without a hit, and those that leave nothing
tare ls mistral --match q_proj
tare ls mistral --match '*.nothing.*'
tare ls mistral --match '*norm*' --skip '*'
tare diff mistral mistral.zt --match q_proj
tare convert mistral a.zt --match q_proj
tare convert mistral a.gguf --skip '*'
tare convert mistral a.zt --match '*norm*' --skip '*norm*'
tare convert mistral a.gguf --skip '*' --json | grep -o '"rule":"[a-z.]*"'
# the output is the input
tare convert mistral mistral
tare convert mistral mistral/
tare quantize mistral.zt ./mistral.zt --method q8_0
# options of other programs, and values
tare quantize tiny.zt a.gguf --bpw 4
tare convert tiny.zt a.gguf --dry-run
tare ls tiny.zt --limit 3
tare ls tiny.zt -n3
tare meta tiny.zt --delete x
tare convert tiny.zt a.gguf -m q8_0
tare quantize tiny.zt a.gguf -m q8_0
tare ls tiny.zt --hlep
tare ls tiny.zt --heal
tare convert tiny.zt a.gguf --zstd 2> err; echo $?; sed 's/; .* do\(es\)*$/; OTHERS do/' err
tare convert tiny.zt a.gguf --dialect x
tare convert tiny.zt a.alt --dialect x
tare convert tiny.zt a.npz --names keeep
tare convert tiny.zt a.npz --overflow clamp
tare diff missing.zt other.zt --bins 4
tare diff missing.zt other.zt --top 0
tare meta mistral.zt author=me
tare convert mistral keys.gguf -q; tare meta keys.gguf --remove tokenizer.ggml.modl
tare run mistral 2>&1 | cut -c 1-60
tare view tiny.zt --json 'numbers?what=1'
