# What convert and quantize tell of what they changed: a model as it is downloaded into containers with less room.
tare demo kept -q > demo.txt
tare convert kept/mistral m.zt
tare convert kept/mistral m.alt
tare convert kept/mistral v.alt --verbose
tare convert kept/mistral m.alt1
tare convert kept/mistral c.alt --dialect altc --skip '*' -v
tare convert kept/mistral m.safetensors --weights-only
# and back
tare convert m.alt back/ -v
tare convert m.alt m.mcf
# casts
tare convert kept/mistral half/ --dtype f16
tare convert kept/mistral half.zt --dtype f16 -v
# what may change the results comes first, and in full
sed -i '1a "logit_scale": 2, "a": 1, "b": 1, "c": 1, "d": 1, "e": 1, "f": 1, "g": 1, "rope_scaling": {"type": "linear", "factor": 2},' kept/mistral/config.json
tare convert kept/mistral harm.alt
pty --columns 60 --stderr tare convert kept/mistral harm60.alt | sed 's/^.*\^\[\[K//'
pty --columns 60 --stderr tare convert kept/mistral harm60v.alt -v | sed 's/^.*\^\[\[K//'
tare convert kept/mistral harm.alt1 -q
# nothing is told beside JSON
tare convert kept/mistral harm.json.alt --json
# tensors that are chosen, in a layout that the target lacks, of values that do not fit
tare convert kept/demo.zt d.npz --match 'quant*' --match '*norm*'
tare convert kept/demo.zt d.zt --skip 'quant*'
python3 -c 'import struct; h = b"{\"w\":{\"dtype\":\"F32\",\"shape\":[2],\"data_offsets\":[0,8]}}"; open("large.safetensors", "wb").write(struct.pack("<Q", len(h)) + h + struct.pack("<2f", 1, 1e6))'
tare convert large.safetensors clamped.zt --dtype f16 --overflow clamp
# quantizing: the table has the methods, the rest is told above it
tare quantize kept/mistral q.alt --method qint8
tare quantize kept/mistral q.mcf --method k4 --method '*norm*=k6'
tare quantize kept/mistral qv.mcf --method k4 -v
tare convert kept/mistral both.zt -q -v
tare append m.zt large.safetensors
# a file that cannot be read and has no place
cp -r kept/mistral torn && echo '{"model": {' > torn/tokenizer.json && tare convert torn torn.alt 2>&1 | sed 's/not JSON: [^;]*[^.;];/not JSON: ...;/'
# what is decoded to reorder its rows is counted, too
tare convert kept/k4.mcf k4.gguf
# floats become integers only if every number survives, or if that is asked for
python3 -c "import struct, json; h=json.dumps({'w': {'dtype': 'F32', 'shape': [2, 2], 'data_offsets': [0, 16]}}).encode(); [open(n, 'wb').write(struct.pack('<Q', len(h)) + h + struct.pack('<4f', *v)) for n, v in (('whole.safetensors', (0, 1, -3, 127)), ('parts.safetensors', (0, 1, 0.25, 3)), ('flags.safetensors', (0, 1, 1, 0)))]"
tare convert whole.safetensors whole8.zt --dtype int8 && tare cat whole8.zt w | od -An -t d1
tare convert parts.safetensors parts8.zt --dtype int8
tare convert parts.safetensors parts8.gguf --dtype i8
tare convert parts.safetensors parts8.mcf --dtype i8
tare convert parts.safetensors parts8.safetensors --dtype u8
tare convert parts.safetensors parts32.zt --dtype i32
tare convert parts.safetensors parts32.zt --dtype i32 --overflow infinity
tare convert parts.safetensors flags.zt --dtype bool
tare convert flags.safetensors flags.zt --dtype bool && tare cat flags.zt w | od -An -t d1
tare convert parts.safetensors parts8.zt --dtype int8 --overflow clamp && tare cat parts8.zt w | od -An -t d1
tare quantize parts.safetensors parts.gguf --method '*=q8_0' --dtype i8
