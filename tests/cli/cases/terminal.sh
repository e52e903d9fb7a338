# tables fit, long names are cut in the middle; in a pipe nothing is
pty --columns 60 tare ls names.zt
pty --columns 200 tare ls names.zt --match 'a.*'
pty --columns 200 env COLUMNS=60 tare ls names.zt --match 'a.*'
COLUMNS=60 tare ls names.zt --match 'a.*'
LC_ALL=C pty --columns 60 tare ls names.zt --match 'a.*' --color never
# colour
pty tare ls tiny.zt
NO_COLOR=1 pty tare ls tiny.zt
NO_COLOR= pty tare ls tiny.zt
TERM=dumb pty tare ls tiny.zt
pty tare ls tiny.zt --color never
tare ls tiny.zt --color=always
pty tare ls tiny.zt --json
# progress: on a terminal only, and not when it is to be quiet; the line is wiped
pty --stderr tare hash big.zt | tr '[0-9]' '9' | grep -o 'Mhashing big.zt  *9*%' | tr -s ' 9' | uniq
pty --stderr tare hash big.zt | tail -c 10
pty --stderr tare hash -q big.zt
pty --stderr tare convert big.zt out.zt | grep -c 'converting .*% .*of 16.0 MiB'
pty --stderr tare convert big.zt out.zt --force --skip t0 --quiet
pty --stderr tare verify big.zt | grep -c 'verifying big.zt .*% .*of 16.0 MiB'
pty --stderr tare diff big.zt big.zt | grep -c 'comparing .*% .*of 32.0 MiB'
tare hash big.zt 2>&1 | wc -l
# tables that do not fit: fewer values, parts one below the other
pty --columns 80 env LC_ALL=C tare formats --color never | tr -d '\r' | awk 'length > 80'
pty --columns 60 tare formats --color never | grep '^FORMAT\|^mcf \|^alt1* '
pty --columns 40 tare ls model.zt --color never | head -4
pty --columns 30 tare show model.zt embed.weight --color never
for c in 20 30 40 60; do pty --columns $c env LC_ALL=C tare show model.zt embed.weight --color never | tr -d '\r' | awk -v c=$c 'length > c'; done
pty --columns 80 tare formats --color never | tr -d '\r' | grep -c '\.\.\.\|…'
pty --columns 130 tare formats --color never | tr -d '\r' | head -2
# 40 columns: long names have a line of their own; the bars and shares of types are omitted
tare demo narrow -q > /dev/null; pty --columns 40 tare ls narrow/mistral --match '*.0.mlp*' --color never
pty --columns 40 tare info narrow/mistral --color never | tr -d '\r' | sed -n '4,10p'
pty --stdout --columns 40 tare diff narrow/mistral narrow/k4.mcf --tensors --match '*.0.mlp*' --color never
for c in 20 30 40 60; do for verb in info ls 'diff narrow/k4.mcf'; do pty --stdout --columns $c env LC_ALL=C tare $verb narrow/mistral -q --color never | tr -d '\r' | grep -v '[:,]' | awk -v c=$c 'length > c'; done; done
# names of 2,000 characters and from right to left, on a narrow terminal
python3 -c "import json,struct; names=['n' * 2000, 'משקל.שכבה', 'w']; h=json.dumps({n: {'dtype':'F32','shape':[2],'data_offsets':[8*i,8*i+8]} for i,n in enumerate(names)}).encode(); [open(f'{f}.safetensors','wb').write(struct.pack('<Q',len(h))+h+struct.pack('<6f',*range(6))[:20]+struct.pack('<f',f=='b')) for f in 'ab']"
for verb in info ls verify 'diff a.safetensors'; do pty --stdout --columns 40 env LC_ALL=C.UTF-8 tare $verb b.safetensors --color never | tr -d '\r'; done
pty --stdout --columns 40 tare show b.safetensors "$(printf 'n%.0s' $(seq 2000))" --color never | tr -d '\r' | cut -c 1-60 | head -3
pty --stdout --columns 40 tare quantize model.zt narrow.mcf --method k4 --color never 2> /dev/null | tr -d '\r'
# columns that do not fit are named: first those that matter least go
pty --stdout --columns 110 tare quantize narrow/mistral narrow/q.gguf --method q4_k_m --color never 2> /dev/null | tr -d '\r'
pty --stdout --columns 80 tare quantize narrow/mistral narrow/q.gguf --method q4_k_m --color never -f 2> /dev/null | tr -d '\r'
pty --stdout --columns 70 tare quantize narrow/mistral narrow/q.gguf --method q4_k_m --color never -f 2> /dev/null | tr -d '\r'
pty --stdout --columns 70 tare quantize narrow/mistral narrow/q.gguf --method q4_k_m --color never -fq | tr -d '\r' | tail -1
pty --stdout --columns 80 tare diff narrow/mistral narrow/k4.mcf --tensors --top 2 --color never | tr -d '\r'
pty --columns 80 tare formats --layouts --color never | tr -d '\r' | head -5
# sentences are shortened at their end, messages are broken at spaces
pty --stdout --columns 60 tare meta narrow/q.gguf --color never | tr -d '\r' | grep 'ggml.tokens'
pty --stderr --columns 60 tare info HuggingFaceTB/SmolLM2-135M | tr -d '\r'
pty --stderr --columns 60 tare quantize narrow/mistral 2>&1 | tr -d '\r'
printf '\200\002cposix\nsystem\nU\002id\205R.' > suspicious.pt; pty --stdout --columns 60 tare verify suspicious.pt --color never | tr -d '\r'
