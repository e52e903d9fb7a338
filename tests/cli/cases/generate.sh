# any family, in any container, with the file's own tokenizer
tare demo d -q > /dev/null; tare convert d/mistral m.zt -q; tare convert d/mistral m.gguf -q; tare quantize d/mistral q8.gguf --method q8_0 -q > /dev/null 2>&1
tare run d/mistral -p 'the model of this file' -n 8
tare run m.gguf --prompt 'the model of this file' --count 8
tare run m.zt -p 'the model of this file' -n 8 --json
tare run m.zt --tokens 1,5,9 -n 3
tare run m.zt --tokens 1,5,9 -n 3 --threads 1 --no-mmap --json
tare run q8.gguf -p 'the model' -n 2 --fast > /dev/null
tare run m.zt -p 'the model' -n 0
tare run m.zt --tokens 1,5,9 --logits | wc -l
tare run m.zt --tokens 1 --logits --json | grep -o '^.............'
# drawn, by a seed
tare run m.zt -p 'the model' -n 20 --temperature 1 --seed 3 > a; tare run m.gguf -p 'the model' -n 20 --temperature 1 --seed 3 > b; cmp a b && echo the same
tare run m.zt -p 'the model' -n 20 --temperature 1 --seed 4 | cmp -s - a || echo another
tare run m.zt -p 'the model' -n 8 --temperature 1 --top-k 1 | cmp - <(tare run m.zt -p 'the model' -n 8) && echo the most likely
tare run m.zt -p 'the model' -n 8 --temperature 1 --min-p 1 | cmp - <(tare run m.zt -p 'the model' -n 8) && echo the most likely
tare run m.zt -p 'the model' -n 8 --temperature 1 --top-p 0.000001 | cmp - <(tare run m.zt -p 'the model' -n 8) && echo the most likely
# how it ends
tare run m.zt --tokens 1,5,9 -n 3 --stop $(tare run m.zt --tokens 1,5,9 -n 2 | tail -1) --json | grep -o '"end":.*'
tare run m.zt -p 'the model' 2>&1 > /dev/null
tare run m.zt -p 'the model' -q > /dev/null
# the chat template
printf '{%% for m in messages %%}[{{ m.role }}] {{ m.content }}\n{%% endfor %%}{{ "[assistant]" if add_generation_prompt }}' > t.jinja; cp m.gguf chat.gguf; tare meta chat.gguf --set-file tokenizer.chat_template=t.jinja -q
tare run chat.gguf -p 'the model' -n 0 --json > a; tare tokens chat.gguf --decode "$(grep -o '"prompt":[^]]*' a | tr -dc '0-9,')"
tare run chat.gguf -p 'the model' --system 'a file' -n 0 --json > a; tare tokens chat.gguf --decode "$(grep -o '"prompt":[^]]*' a | tr -dc '0-9,')"
tare run chat.gguf -p 'the model' --chat -n 2 | cmp - <(tare run chat.gguf -p 'the model' -n 2) && echo the same
tare run chat.gguf -p 'the model' --no-chat -n 4 | cmp - <(tare run m.gguf -p 'the model' -n 4) && echo the same
tare run m.gguf -p 'the model' --chat
tare run m.gguf -p 'the model' --system 'a file'
tare run chat.gguf -p 'the model' --system 'a file' --no-chat
tare run chat.gguf --tokens 1 --chat
printf '{%% include "/etc/passwd" %%}' > t.jinja; tare meta chat.gguf --set-file tokenizer.chat_template=t.jinja -q; tare run chat.gguf -p 'the model'
printf '{{ raise_exception("no\033[31mway") }}' > t.jinja; tare meta chat.gguf --set-file tokenizer.chat_template=t.jinja -q; tare run chat.gguf -p 'the model'
printf '{%% for a in range(99999) %%}{%% for b in range(99999) %%}{%% endfor %%}{%% endfor %%}' > t.jinja; tare meta chat.gguf --set-file tokenizer.chat_template=t.jinja -q; tare run chat.gguf -p 'the model'
# what cannot be run
tare run m.zt
tare run m.zt -p a --tokens 1
tare run m.zt --tokens 1,99999
tare run m.zt --tokens ''
tare run m.zt -p a --stop 99999
tare run m.zt -p a --temperature -1
tare run m.zt -p a --temperature 1 --min-p 2
tare run m.zt -p a --min-p 0.5
tare run m.zt -p a --vocab vocab.txt --merges merges.txt
tare run llama.bin --tokens 1 --min-p 0.5
tare run llama.bin --tokens 1 --chat
cp m.gguf short.gguf; tare meta short.gguf --set llama.context_length=8 -q; tare run short.gguf --tokens 1,2,3,4,5,6,7,8,9 -n 1
tare run short.gguf --tokens 1,2,3,4,5,6,7 -n 5
tare run short.gguf --tokens 1,2,3,4,5,6,7,8,9 --logits
tare convert d/mistral mute.zt --drop vocabulary --drop attachments -q; tare run mute.zt -p a
tare convert d/mistral part.zt --skip '*layers.1.mlp*' -q; tare run part.zt -p a
tare run tiny.zt -p a
tare run missing.gguf -p a
tare run d/mistral -p 'the model' -n 3 > /dev/full
