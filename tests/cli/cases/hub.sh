# The weights keep their name, and the files come along.
tare convert lora/ lora.zt && tare convert lora.zt back/ && ls back
tare convert lora/ all.zt --attach '*.txt' && tare extract all.zt
tare convert lora/ all.zt --attach '*.png'
tare convert all.zt more.zt --attach '*.txt'
# A cast tells config.json, and nothing else of it changes.
tare convert lora/ half/ --dtype f16 && cat half/config.json
# Only the weights.
tare convert lora/ one.safetensors
tare convert lora/ one.safetensors --weights-only && tare ls one.safetensors
# Quantized already.
tare info gptq
tare ls gptq
tare info --json gptq | python3 -c 'import json, sys; print(json.load(sys.stdin)["packed"])'
tare show gptq q.weight
tare cat gptq q.weight --slice '0, :8' --as f32 | od -A n -t f4
tare cat gptq q.weight --component qzeros | od -A n -t x4
tare convert gptq out/ --dtype f32 && cat out/config.json
tare diff gptq out
tare quantize gptq out.mcf --method q8
tare convert gptq out.zt && tare hash gptq out.zt && tare ls out.zt
tare convert gptq again/ -q && cmp again/config.json gptq/config.json && tare hash again
# What was assumed is told by whoever decodes.
cp gptq/model.safetensors alone.safetensors; tare info alone.safetensors | head -1
tare cat alone.safetensors q.weight --slice '0, :2' --as f32 | od -A n -t f4
tare show alone.safetensors q.weight | head -1
tare convert marlin out2/ --dtype f32
tare verify marlin unscaled
tare info unscaled | head -3
tare convert unscaled out.npz
# Quantized in a way that is not decoded: carried and named, and not cast.
tare verify hqq vptq
tare ls hqq
tare cat hqq q.W_q --as f32
tare show hqq q.W_q | head -2
tare convert hqq out3/ --dtype bf16
tare quantize vptq out3.mcf --method q8
tare convert vptq/model.safetensors out3.zt --dtype bf16
tare convert vptq out3/ -q && tare hash vptq out3
# Scales that are not finite are not decoded unasked.
tare verify nanscale
tare convert nanscale out4/ --dtype bf16
tare quantize nanscale out4.mcf --method q8
tare convert nanscale out4/ --dtype bf16 --overflow infinity
# What Tare does not read is named.
tare info foreign
tare info foreign/model.ggml
tare info foreign/model.h5
# A pipeline is several models.
tare info pipeline
tare info --json pipeline
tare ls pipeline
tare verify pipeline
# A part that is a link to another one is read once, and reported as often as it is named.
cp -r pipeline linked; ln -s unet linked/copy
sed -i 's/"unet": /"unet": ["diffusers", "UNet2DModel"], "copy": /' linked/model_index.json
tare info linked; tare verify linked
tare convert pipeline pipeline.zt
tare convert pipeline/unet unet.zt
# An adapter is added to the weights.
tare info lora16
tare info --json lora16 | python3 -c 'import json, sys; print(json.load(sys.stdin)["adapter"])'
tare convert lorabase merged/ --merge lora16 && tare cat merged q.weight --as f32 | od -A n -t f4
tare convert lorabase merged3/ --merge lora16/adapter_model.safetensors && cmp merged/model.safetensors merged3/model.safetensors
tare convert lorabase merged2/ --merge lorabase
tare convert gptq merged2/ --merge lora16
tare quantize lorabase merged.mcf --method q8 --merge lora16
# A link out of the directory is not followed.
ln -s /etc/passwd lora/chat_template.jinja; tare convert lora/ leak.zt
# Adapters as llama.cpp has them: the architecture must be known.
tare convert lora16 lora16.gguf
ls lora16.gguf
