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
