# One tensor that breaks a rule does not hide the others.
tare ls broken.zt
tare ls broken.zt --json
tare ls broken.zt --skip bad
tare info broken.zt
tare show broken.zt c
tare cat broken.zt a --as f32 | od -A n -t f4
tare show broken.zt bad
tare verify broken.zt
tare hash broken.zt
tare diff broken.zt broken.zt
tare convert broken.zt out.npz
tare convert broken.zt out.npz --skip bad
tare ls out.npz
tare diff broken.zt out.npz --skip bad
tare quantize broken.zt out.mcf --method q8
tare append tiny.zt broken.zt
tare append tiny.zt broken.zt --skip bad
# An array of text is carried along.
tare ls mixed.npz
tare verify mixed.npz
tare convert mixed.npz out.zt --skip short
tare info out.zt
# Compression stays unless asked otherwise.
tare convert big.zt packed.zt --zstd -q; tare convert packed.zt again.zt -q; cmp packed.zt again.zt
tare convert packed.zt raw.zt --no-zstd -q; cmp big.zt raw.zt
tare convert packed.zt x.npz --no-zstd 2> err; echo $?; sed 's/; .* do\(es\)*$/; OTHERS do/' err
tare convert packed.zt x.zt --zstd --no-zstd
