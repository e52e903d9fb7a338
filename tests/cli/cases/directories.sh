# A directory in Hugging Face's layout, in two shards, is a model like any file.
tare info hub
tare ls hub
tare ls hub --json | grep norm
tare ls hub/model.safetensors.index.json
tare show hub packed
tare cat hub norm.weight --as f32 | od -An -tf4
tare extract hub
tare extract hub chat_template.jinja
tare verify --strict hub
tare hash hub hub/model.safetensors.index.json
# One file, and a directory again: the resource files are the same bytes.
tare convert hub/ hub.zt
tare convert hub.zt back/ --shard 4300 && ls back
cmp hub/config.json back/config.json && cmp hub/tokenizer.json back/tokenizer.json
tare info hub/config.json
cat back/model.safetensors.index.json
tare diff hub back
tare convert hub.zt back/
tare convert hub.zt back/ --force && ls back
mkdir there && tare convert hub.zt there && ls there
tare convert hub.zt there
# Merged, without what a single file has no place for.
tare convert hub one.safetensors
tare convert hub one.safetensors --drop attachments --drop vocabulary
tare convert hub/model.safetensors.index.json two.safetensors && tare hash one.safetensors two.safetensors hub
tare convert two.safetensors set/ --to safetensors --shard 1KiB && ls set
tare convert two.safetensors set.safetensors --shard 1KiB
tare convert two.safetensors set.zt --shard 1KiB 2> err; echo $?; sed 's/; .* do\(es\)*$/; OTHERS do/' err
tare convert two.safetensors half/ --to safetensors --shard 0.5kib && ls half
tare convert two.safetensors set/ --shard 5XB
tare convert two.safetensors set/ --shard 0.5
tare convert two.safetensors - --to hf
tare append hub tiny.zt
# What is wrong with a directory, and what to do about it.
tare info broken
tare info bare
tare info torch
tare info twice
tare info .bin
mkdir gone; cp broken/config.json gone; ln -s ../blobs/abc gone/model.safetensors; tare info gone
# Overwriting: what is in the way, and what a kill leaves.
mkdir back/special_tokens_map.json; tare convert hub.zt back/ --force; rmdir back/special_tokens_map.json; ls back
rm back/model.safetensors; mkdir back/.tare-abcdefgh2345; echo "Tare's, and removed by it: .tare-abcdefgh2345" > back/.tare-abcdefgh2345/.tare-marker; cp -r hub back/.tare-abcdefgh2345/new
tare info back
tare convert back/.tare-abcdefgh2345/new back/ --force && ls -a back | grep tare
rm hub/model-00002-of-00002.safetensors; tare info hub
tare info cut/short.safetensors
