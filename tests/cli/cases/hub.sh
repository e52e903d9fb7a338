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
tare convert gptq out/ --dtype f32
tare quantize gptq out.mcf --method q8
tare convert gptq out.zt && tare hash gptq out.zt
# What Tare does not read is named.
tare info foreign
tare info foreign/model.ggml
tare info foreign/model.h5
tare info pipeline
# A link out of the directory is not followed.
ln -s /etc/passwd lora/chat_template.jinja; tare convert lora/ leak.zt
