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
# What f32 cannot hold, and bytes that do not match their digest.
python3 -c 'import struct; d = struct.pack("<3d", 1, 1e300, -1e300); h = b"{\"w\":{\"dtype\":\"F64\",\"shape\":[3],\"data_offsets\":[0,24]}}"; open("far.safetensors", "wb").write(struct.pack("<Q", len(h)) + h + d)'
tare cat far.safetensors w --as f32
tare cat far.safetensors w --as f32 --overflow clamp | od -An -v -t f4
tare cat far.safetensors w --as f32 --overflow infinity | od -An -v -t f4
tare cat far.safetensors w --overflow clamp
tare convert tiny.zt digested.zt --digest sha256 -q && python3 -c 'import json, subprocess; at = json.loads(subprocess.check_output(["tare", "ls", "--json", "digested.zt"]))["tensors"][0]["components"]["data"]["offset"]; data = bytearray(open("digested.zt", "rb").read()); data[at + 5] ^= 1; open("damaged.zt", "wb").write(data)'
tare cat damaged.zt w | wc -c
tare cat damaged.zt w --as f32 | wc -c
tare cat damaged.zt w --as npy -o damaged.npy; ls damaged.npy
tare show damaged.zt w
tare show damaged.zt w --json
tare cat damaged.zt w --slice 0 --as f32 | wc -c
