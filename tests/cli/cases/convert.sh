tare convert same.npz a.zt
tare hash same.npz a.zt tiny.zt | cut -d' ' -f1 | uniq | wc -l
cmp a.zt tiny.zt && echo canonical
tare convert model.zt packed.zt --zstd=19 --digest sha256
tare ls --json packed.zt --match embed.weight | grep -o '"encoding":"[a-z]*","digest":"sha256'
tare diff model.zt packed.zt
tare convert packed.zt plain.zt --check -q && tare verify plain.zt
tare convert tiny.zt - --to npz | cat > piped.npz && tare diff --tensors tiny.zt piped.npz
tare convert model.zt small.zt --dtype bf16 --match 'embed*' --set note='"x"' --set n=3
tare ls small.zt --json | head -1
tare convert model.zt quant.zt --quant group8 --skip 'layers*' && tare ls quant.zt
tare convert tiny.zt json.zt --json
tare convert tiny.zt json.mcf --dedup && tare hash tiny.zt json.mcf | cut -d' ' -f1 | uniq | wc -l
tare convert model.zt dense.npz
