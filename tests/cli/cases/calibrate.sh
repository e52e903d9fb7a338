# what the matrices are multiplied with, and what a file lost
tare demo d -q > /dev/null; seq 0 95 > ids.txt; printf '0 1' > two.txt
tare calibrate d/mistral --tokens ids.txt --context 32 -o i.gguf
tare ls i.gguf --match 'blk.0.*' | head -4
tare meta i.gguf general.type; tare meta i.gguf imatrix.chunk_count; tare meta i.gguf imatrix.chunk_size
tare calibrate d/mistral --tokens ids.txt --context 32 -o i.gguf
tare calibrate d/mistral --tokens ids.txt --context 32 -o i.gguf -f --json | grep -o '"tokens".*"enough":[0-9]*'
tare calibrate d/mistral -o text.gguf -q; tare meta text.gguf imatrix.datasets
tare quantize d/mistral k4.mcf --method k4 --importance i.gguf -q | tail -1 | cut -c1-12
# budgets by damage
tare calibrate d/mistral --tokens ids.txt --damage -o damage.gguf -q; tare ls damage.gguf --match '*.damage' | wc -l
tare quantize d/mistral budget.mcf --bits 5 --importance damage.gguf --explain -q | grep -c 'k[2-8]'
tare quantize d/mistral budget.mcf --bits 5 --importance i.gguf --explain -f
tare quantize d/mistral budget.mcf --bits 5 --importance damage.gguf --measure -f -q | grep -c 'against d/mistral: KL'
# what a file says that it lost
tare quantize d/mistral said.mcf --method k4 --measure -q | grep -o 'against d/mistral: KL'
tare info said.mcf | grep -o 'tare.quality.kl '
tare verify said.mcf --quality d/mistral | tail -1
tare verify k4.mcf --quality d/mistral
tare meta said.mcf --set tare.quality.kl=0.0000001 -q > /dev/null; tare verify said.mcf --quality d/mistral | sed 's/measured [0-9.e-]*/measured X/'
tare verify said.mcf --quality k4.mcf | cut -d' ' -f1-8; tare verify said.mcf --quality d/mistral --text ids.txt | cut -d' ' -f1-8
tare convert said.mcf said.zt -q; tare meta said.zt | grep -c tare.quality
tare convert said.mcf f16.zt --dtype f16 -q; tare meta f16.zt | grep -c tare.quality
# what makes no sense
tare calibrate d/mistral
tare calibrate d/mistral -o x.gguf --tokens two.txt --text ids.txt
: > empty.txt; tare calibrate d/mistral -o x.gguf --text empty.txt
tare calibrate tiny.zt -o x.gguf
tare verify said.mcf --text ids.txt
