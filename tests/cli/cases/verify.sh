tare verify tiny.zt model.zt same.npz
tare verify tiny.zt cut.zt misaligned.zt missing.zt tiny.zt
tare verify odd.zt
tare verify --strict odd.zt
tare verify -q tiny.zt
# notes are remarks, warnings are not
cp -r hub noted; echo hello > noted/README.md; tare verify noted; tare verify -q noted; tare verify -q odd.zt
tare verify --json tiny.zt odd.zt
tare verify words.txt
tare verify
pty --stdout tare verify cut.zt odd.zt
# where the data is wrong; what stands twice in a list of coordinates is added up
tare verify unsound.zt
tare cat unsound.zt list --as f32 | od -An -t f4
# what a truncated file lacks is one line
tare demo kept -q >all.txt; tare convert kept/mistral whole.gguf -q --drop attachments && head -c 60000 whole.gguf >half.gguf
tare verify half.gguf
tare verify half.gguf --json
tare info half.gguf 2>&1 >/dev/null
tare ls half.gguf 2>&1 >/dev/null
tare convert half.gguf half.zt
# the worst first, although the note is found first
tare verify untidy/untidy.safetensors
# the version is text of the file, too
tare verify forged.zt; tare info forged.zt; tare ls forged.zt
pty --stdout tare verify forged.zt
