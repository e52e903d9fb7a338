tare diff tiny.zt same.npz
tare diff tiny.zt other.zt
tare diff -q tiny.zt tiny.zt
tare diff --json tiny.zt other.zt
tare diff tiny.zt other.zt --match nothing
tare diff tiny.zt model.zt --match w
tare diff tiny.zt model.zt --match w --tensors
tare diff tiny.zt missing.zt
# bytes
tare diff --exact tiny.zt same.npz
tare diff --exact tiny.zt other.zt
tare diff --exact --json tiny.zt other.zt
tare convert tiny.zt half.zt --dtype f16 -q; tare diff --exact tiny.zt half.zt; tare diff tiny.zt half.zt
tare diff --exact tiny.zt other.zt w
# names of another convention, although one name is common: paired as the page does
tare demo d -q > /dev/null; tare quantize d/mistral q.gguf --method q8_0 -q > /dev/null; tare convert d/mistral m.zt -q; tare append m.zt tiny.zt -q; tare convert q.gguf q.zt -q; tare append q.zt tiny.zt -q
tare diff m.zt q.zt --tensors | tail -1
tare diff m.zt q.zt --tensors --json | grep -o '"renamed":[a-z]*,"exact":[a-z]*'
tare diff d/mistral q.gguf lm_head.weight --json | grep -o '"renamed":[a-z]*'
# what is stored in another way is the same weights; one table on 80 columns, names whole
tare convert d/mistral wide.zt --dtype f32 -q; tare diff d/mistral wide.zt --tensors | tail -1
pty --stdout --columns 80 tare diff d/mistral q.gguf -q --color never | tr -d '\r' | head -4
pty --stdout --columns 80 tare diff d/mistral q.gguf -q --color never | tr -d '\r' | awk 'length > 80'
pty --stdout --columns 120 tare diff d/mistral q.gguf -q --color never | tr -d '\r' | head -1
# what it saved: the bits per weight of B if A has others, and those of both in the last line
tare quantize d/mistral k4.mcf --method k4 -q > /dev/null; tare diff d/mistral k4.mcf --tensors --match '*layers.0.self*'
pty --stdout --columns 80 tare diff d/mistral k4.mcf --tensors --color never | tr -d '\r' | head -2
tare diff d/mistral k4.mcf --tensors --json | grep -o '"tensor_bytes":[^]]*],"bits_per_weight":[^]]*]'
tare diff d/mistral k4.mcf lm_head.weight --json | grep -o '"bits_per_weight":[^]]*]'
tare diff tiny.zt other.zt --tensors --json | grep -o '"name":"x"[^]]*]'
# NaN is the worst
tare diff before.zt after.zt
# the worst only; the last line counts all
tare diff d/mistral q.gguf --tensors --top 2
tare diff d/mistral q.gguf --tensors --top 2 --json | grep -o '"name":"[^"]*"'
tare diff d/mistral q.gguf --top 0
tare diff d/mistral q.gguf --top 2 lm_head.weight
