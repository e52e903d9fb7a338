tare cat tiny.zt w | od -An -v -t f4
tare cat tiny.zt w --slice '1, ::-1' | od -An -v -t f4
tare cat tiny.zt w --slice '..., -1' --as f32 | od -An -v -t f4
tare cat model.zt embed.weight --slice 0 --as f32 | od -An -v -t f4
tare cat model.zt router --component indices | od -An -v -t u8
tare cat model.zt router --as f32 | od -An -v -t f4
tare cat model.zt router
tare cat model.zt router --component nope
tare cat model.zt router --as npy | head -c 128 | tail -c 118 | tr -s ' '
tare cat tiny.zt w --as npy -o w.npy && tare ls w.npy
tare cat tiny.zt w -o w.npy
tare cat tiny.zt w -o w.npy --force && wc -c < w.npy
tare cat tiny.zt w --slice 5
tare cat tiny.zt w --slice 'a:b'
tare cat tiny.zt w --slice 0 --component data
tare cat tiny.zt w --as f32 --component data
tare cat tiny.zt w --as f31
pty tare cat tiny.zt w
pty tare cat tiny.zt w --force | od -An -c | head -1
