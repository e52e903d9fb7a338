tare info llama.bin | head -2
tare run llama.bin --tokens 1,2,3 -n 4
tare run llama.bin --tokens 1
tare run llama.bin --tokens 1 --count 3 --temperature 0.01 --seed 7
tare run llama.bin --tokens 2 --logits
tare run llama.bin --prompt hello --vocab vocab.txt --merges merges.txt -n 3
tare run llama.bin --tokens 0 --vocab vocab.txt --merges merges.txt -n 4
tare run llama.bin --tokens 0 --stop 5,3
tare run llama.bin --tokens 0 --stop 5,3 --json
tare run llama.bin --tokens 1 --json
tare run llama.bin --tokens 2 --logits --json
tare run llama.bin --prompt hello --vocab vocab.txt --merges merges.txt -n 3 --json
# any container that holds one
tare convert llama.bin llama.zt && tare run llama.zt --tokens 4 -n 2
tare convert llama.zt again.bin --to tllm -q && cmp llama.bin again.bin && echo the same
tare convert llama.zt half.npz --dtype f16 -q && tare run half.npz --tokens 4 -n 2 --no-mmap
tare convert tiny.zt out.bin --to tllm
tare convert llama.bin out.bin
tare run tiny.zt --tokens 1
tare run swapped.bin --tokens 1
tare run llama.bin --tokens 6
tare run llama.bin --tokens -1
tare run llama.bin --tokens 1,2,3,4,5,0,1,2,3
tare run llama.bin --prompt '' --vocab vocab.txt --merges merges.txt
tare run llama.bin --tokens ''
tare run llama.bin
tare run llama.bin hello world
tare run llama.bin --tokens 1 --prompt h
tare run llama.bin --prompt h
tare run llama.bin --prompt h --vocab vocab.txt
tare run llama.bin --tokens 1,x
tare run llama.bin --tokens 1 --temperature warm
tare run llama.bin --tokens 1 --temperature -1
tare run llama.bin --tokens 1 --temperature inf
tare run llama.bin --tokens 1 --top-k 3
tare run llama.bin --tokens 1 --logits -n 3
tare run llama.bin --tokens 1 --logits --temperature 1
tare run llama.bin --tokens 1 --logits --stop 2
tare run llama.bin --tokens 1 --stop 6
tare run llama.bin --tokens 1 --stop 2,-1
tare run llama.bin --tokens 1 --temperature 1 --top-p 2
tare run llama.bin --prompt h --vocab nowhere.txt --merges merges.txt
tare run llama.bin --prompt h --vocab vocab.txt --merges words.txt
# a vocabulary of another model
head -4 vocab.txt > short.txt; : > none.txt; tare run llama.bin --tokens 0 --vocab short.txt --merges none.txt -n 1
(cat vocab.txt; echo more) > long.txt; tare run llama.bin --prompt he --vocab long.txt --merges merges.txt -n 1
# without the number of heads
tare convert llama.bin bare.npz --drop config --drop metadata -q; tare run bare.npz --tokens 1
tare convert bare.npz told.npz --set tllm.num_heads=1 -q && tare run told.npz --tokens 1 -n 1
# through ALT and back: what the config says is not lost, and what identifies the file is no obstacle
tare convert llama.bin it.alt && tare convert it.alt back.bin --to tllm && cmp llama.bin back.bin && echo the same
tare convert llama.bin dropout.zt --set tllm.dropout=0.5 -q && tare convert dropout.zt dropout.alt
# files of Tiny Llama's own program: with duplicates, merges of what is no token, lines of one word
tare run llama.bin --prompt 'The' --vocab upstream.txt --merges upstream-merges.txt --logits | head -1
tare run llama.bin --prompt 'The' --vocab upstream.txt --merges upstream-merges.txt --tokenizer upstream -n 2 -q
tare run llama.bin --prompt 'The' --vocab upstream.txt --merges upstream-merges.txt --tokenizer strict
tare run llama.bin --tokens 1 --tokenizer upstream
tare run llama.bin --prompt h --vocab vocab.txt --merges merges.txt --tokenizer mine
# through MCF and back: the config.json that was made for other programs is no obstacle
tare convert llama.bin it.mcf && tare convert it.mcf back.bin --to tllm --force && cmp llama.bin back.bin && echo the same
