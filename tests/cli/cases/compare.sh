# two models on the same tokens: numbers differ in the last bits between processors, so only some are shown
tare demo d -q > /dev/null; tare convert d/mistral m.zt -q; tare convert d/mistral m.gguf -q; tare quantize d/mistral k4.mcf --method k4 -q > /dev/null
seq 0 95 > ids.txt; printf '[1, 2, 3, 5, 8, 13, 21, 34]' > list.json; printf '\1\0\0\0\2\0\0\0\3\0\0\0\5\0\0\0' > ids.bin
tare compare d/mistral m.zt --tokens ids.txt
tare compare d/mistral m.gguf --tokens ids.txt | tail -1
tare compare d/mistral k4.mcf --tokens ids.txt -q > /dev/null
tare compare d/mistral k4.mcf --tokens ids.txt -q --at-most 5 > /dev/null
tare compare d/mistral k4.mcf --tokens ids.txt --at-most 5 | tail -1
tare compare d/mistral k4.mcf --tokens ids.txt --json | grep -o '"parting":[^,]*'
tare perplexity d/mistral --tokens ids.txt --context 40 | sed 's/[0-9.]* ± [0-9.]*/P ± E/'
tare perplexity d/mistral --tokens list.json --context 8 --json | grep -o '"tokens".*'
tare perplexity d/mistral --tokens ids.bin --context 4 | sed 's/[0-9.]* ± [0-9.]*/P ± E/'
# texts, by the model's own tokenizer
for i in 1 2 3 4 5 6 7 8; do echo 'the model of this file is not in that layer'; done > text.txt
tare compare d/mistral m.gguf --text text.txt | tail -1
tare compare d/mistral k4.mcf --at-most 5 | tail -1
tare compare d/mistral k4.mcf --text text.txt --at-most 5 | grep -c '^ *[0-9]* .*" '
tare compare d/mistral k4.mcf --text text.txt --context 16 --json | grep -o '"said_b"' | head -1
tare perplexity d/mistral --text text.txt --context 16 | sed 's/[0-9.]* ± [0-9.]*/P ± E/'
tare perplexity d/mistral | sed 's/[0-9.]* ± [0-9.]*/P ± E/'
sed 's/▁model/▁chair/' d/mistral/tokenizer.json > tokenizer.json; cp -r d/mistral other; mv tokenizer.json other/; tare compare d/mistral other --text text.txt
tare convert d/mistral mute.zt --drop vocabulary --drop attachments -q; tare perplexity mute.zt
tare perplexity d/mistral --text text.txt --tokens ids.txt
tare perplexity d/mistral --text missing.txt
# what cannot be run
tare perplexity d/mistral --tokens ids.txt
tare perplexity d/mistral --tokens missing.txt
tare perplexity d/mistral --tokens d/mistral/config.json
printf '1 2 99999' > far.txt; tare perplexity d/mistral --tokens far.txt --context 3
: > empty.txt; tare compare d/mistral m.zt --tokens empty.txt
printf '123' > odd.bin; tare compare d/mistral m.zt --tokens odd.bin
tare perplexity tiny.zt --tokens ids.txt
tare compare d/mistral tiny.zt --tokens ids.txt --json
tare compare d/mistral m.zt --tokens ids.txt --at-most none
tare convert d/mistral part.zt --skip '*layers.1.mlp*' -q; tare perplexity part.zt --tokens ids.txt --context 40
