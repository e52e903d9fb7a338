# methods, recipes and the table
tare quantize model.zt k4.zt --method k4
tare ls k4.zt
tare quantize model.zt mixed.zt --method q8 --method 'layers*=k6' --keep 'embed*' -q
tare quantize model.zt fast.zt --method k4 --fast --json
tare verify -q k4.zt mixed.zt fast.zt && echo sound
# a budget
tare quantize model.zt budget.zt --bits 6
tare quantize model.zt low.zt --bits 1
# what it cost, per tensor
tare diff --tensors model.zt k4.zt
tare diff model.zt k4.zt embed.weight --bins 6
tare diff model.zt k4.zt embed.weight --bins 2 --json
# which option decides
tare quantize model.zt rules.zt --method '*=k4'
tare demo kept -q >all.txt
tare quantize kept/mistral heads.mcf --method '*.0.*=k4' --keep '*' --embeddings q8 --head k6
# a budget knows what the target holds
tare quantize kept/mistral budget.alt --bits 7 -q
tare quantize kept/mistral budget.mcf --bits 5 -q
tare quantize kept/mistral bad.npz --bits 5
# what makes no sense
tare quantize model.zt bad.zt
tare quantize model.zt bad.zt --method k5
tare quantize model.zt bad.zt --method 'embed*=k5'
tare quantize model.zt bad.zt --method k4 --method q8
tare quantize model.zt bad.zt --keep '*'
tare quantize model.zt bad.zt --bits 5 --range
tare quantize model.zt bad.zt --method k4 --bits 5
tare quantize model.zt bad.zt --method k4 --clip 1
tare quantize model.zt bad.zt --method k4 --clip 2,1
tare quantize model.zt bad.zt --method k4 --keep 'no*'
tare quantize model.zt bad.zt --method k4 --head q8
tare quantize model.zt bad.npz --method k4 2>&1 | sed 's/(zt, .* can)/(FORMATS can)/'; echo "[${PIPESTATUS[0]}]"
tare quantize model.zt k4.zt --method k4
ls bad*
# llama.cpp's names are mixes: the head is not of 4 bits
tare quantize kept/mistral mix.gguf --method Q4_0 -q
tare quantize kept/mistral pure.gguf --method q4_0 --pure -q
tare quantize kept/mistral bad.mcf --method k4 --pure
tare quantize kept/mistral bad.mcf --bits 5 --pure
tare convert kept/mistral medium.gguf --quant q4_k_m -q && tare meta medium.gguf | grep file_type
# one line for all that were quantized already
tare quantize medium.gguf again.gguf --method q8_0
# a method that OUT cannot hold is refused before the parts that OUT has no field for
tare demo demo-k4 -q > /dev/null; tare quantize demo-k4/mistral x.safetensors --method k4
# one table in 80 columns
pty --stdout --columns 80 tare quantize kept/mistral narrow.gguf --method q8_0 -q --color never | tr -d '\r'
# what the target cannot hold is said first, by the name that was asked for
tare quantize kept/mistral out.safetensors --method q4_k_m
