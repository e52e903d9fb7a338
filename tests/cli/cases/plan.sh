tare plan job.json --tasks 3 -- model.zt out.mcf --quant k4 --drop attributes
tare finish job.json
tare task job.json 2 --json | sed 's,"part":".*/,"part":",'
tare task job.json 0
tare finish job.json
tare task job.json 1
tare task job.json 1
tare task job.json 3
tare finish job.json
tare convert model.zt direct.mcf --quant k4 --drop attributes -q
cmp out.mcf direct.mcf && ls job*
tare plan job.json -- model.zt out.mcf
tare plan other.json -- model.zt -
tare plan other.json -- model.zt
tare plan other.json -- missing.zt out.mcf
sed 's/model/modal/' job.json > changed.json
tare task changed.json 0
tare finish model.zt
tare finish missing.json
# An adapter, as `convert` merges it; and a part that was damaged on its way, without a digest in the output.
tare plan merged.json --tasks 2 -- lorabase merged.zt --merge lora16 --digest none && tare task merged.json 0
tare finish merged.json -q && tare convert lorabase direct.zt --merge lora16 --digest none -q && cmp merged.zt direct.zt && tare cat merged.zt q.weight --as f32 | od -A n -t f4
tare task merged.json 0 && python3 -c 'p = "merged.json.00000.part"; data = bytearray(open(p, "rb").read()); data[len(data) // 2] ^= 4; open(p, "wb").write(data)'
rm merged.zt; tare finish merged.json 2>&1 | sed 's/xxh3-128:[0-9a-f]*/xxh3-128:*/g; s|[^ ]*/merged|merged|'; ls merged.zt
tare task merged.json 0 && head -c 100 merged.json.00000.part > short && mv short merged.json.00000.part && tare finish merged.json
# The output cannot have the name of the plan or of a part.
tare plan j.json -- model.zt j.json --to mcf --drop attributes
tare plan j.json --tasks 2 -- model.zt ./j.json.00001.part --to mcf --drop attributes
ls j.json*
# What the words of the conversion say about reports holds for finish.
for words in --json --quiet; do tare plan j.json -q --force --tasks 1 -- model.zt j.mcf --drop attributes -f $words && tare task j.json 0 && tare finish j.json; done
