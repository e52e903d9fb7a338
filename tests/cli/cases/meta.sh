tare meta chat.gguf
tare meta model.zt
tare meta model.zt --json
tare meta chat.gguf --json | head -4
pty --columns 60 --stdout tare meta chat.gguf
tare meta one.npy
tare meta hub
# one value
tare meta chat.gguf llama.context_length
tare meta chat.gguf --get x.list
tare meta chat.gguf x.list --json
tare meta chat.gguf tokenizer.chat_template | od -c | tail -5
pty --stdout tare meta chat.gguf tokenizer.chat_template
tare meta chat.gguf llama.contextlength
tare meta chat.gguf x.list --set x.list=[]
tare meta chat.gguf x.list --get x.list
tare meta chat.gguf --dry-run
# in place: one sector
stat -c %i chat.gguf > inode; tare hash chat.gguf
tare meta chat.gguf --set llama.context_length=4096 --dry-run
tare meta chat.gguf --set llama.context_length=4096 --set x.byte=8
stat -c %i chat.gguf | diff - inode && echo the same file
tare meta chat.gguf --set llama.context_length=4096
# as a new file
tare meta chat.gguf --rename x.list=y.list --remove x.byte --set y.list=[1,2,3] --set general.name=5 --set new.id:i64=5 --set new.text:string=[1] --dry-run
tare meta chat.gguf --rename x.list=y.list --remove x.byte --set y.list=[1,2,3] --set general.name=5 --set new.id:i64=5 --set new.text:string=[1] -q
tare meta chat.gguf | grep -v tokenizer
printf '{{ m }}\n' > t.jinja; tare meta chat.gguf --set-file tokenizer.chat_template=t.jinja --json
tare meta chat.gguf tokenizer.chat_template | cmp - t.jinja && tare verify chat.gguf && tare hash chat.gguf
chmod 640 chat.gguf; ln -s chat.gguf link.gguf; tare meta link.gguf --set general.name=linked; stat -c '%a %F' chat.gguf link.gguf; tare meta chat.gguf general.name
# a hard link keeps what it was: always a new file
cp chat.gguf one.gguf; ln one.gguf two.gguf; tare meta one.gguf --set llama.context_length=8192; tare meta two.gguf llama.context_length
# files that say otherwise
mkdir whole && cp lora/adapter_model.safetensors whole/model.safetensors && cp hub/config.json hub/chat_template.jinja whole && tare convert whole whole.gguf --names keep -q && tare extract whole.gguf
tare meta whole.gguf --set llama.block_count=2 --dry-run
tare meta whole.gguf --set llama.block_count=2 --json && tare extract whole.gguf
# other containers
tare meta model.zt --set epoch=4 --set author=5 --remove tags --set 'more:map={"a": 1}' && tare meta model.zt
tare convert chat.gguf all.npz -q; tare meta all.npz --set note=hello && tare meta all.npz note
tare convert one.npy one.safetensors -q; tare meta one.safetensors --set note=hello && tare meta one.safetensors
tare meta lora --set note=hello && tare meta lora && cat lora/config.json
tare meta llama.bin && tare meta llama.bin --set tllm.dropout=0.5 && tare meta llama.bin
# refused
tare meta chat.gguf --set llama.context_length=many
tare meta chat.gguf --set llama.context_length=-1
tare meta chat.gguf --set llama.context_length:u128=1
tare meta chat.gguf --set new:zz=1
tare meta chat.gguf --set new=null
tare meta chat.gguf --remove nothing
tare meta chat.gguf --rename y.list=general.name
tare meta chat.gguf --set split.count=2
tare meta chat.gguf --set general.alignment=3
tare meta chat.gguf --set-file a=missing.txt
printf '\377' > bytes.txt; tare meta chat.gguf --set-file a=bytes.txt
tare meta chat.gguf --set context
tare meta chat.gguf --rename a=
tare meta one.npy --set a=1
tare meta hub --set a=1
tare convert hub set/ --to gguf --shard 100 --names keep --drop attachments > made.txt; ls set
tare meta set --set author=me --dry-run
tare meta set --set author=me; tare meta set --set author=us
tare meta set/*-00002-of-*.gguf --set author=you; tare meta set author
tare verify set
tare meta llama.bin --set a=1
tare meta broken.zt --set a=1
tare meta missing.gguf --set a=1
tare meta
