tare demo | head -2
tare demo | tail -1
tare demo there | grep -E '^(FORMAT|zt|npz|npy) '
tare verify there/demo.zt there/demo.npz there/demo.npy
tare demo there
tare demo there --force --threads 1 | tail -1
# a downloaded model from container to container: ALT has no vocab_size, the way back counts it
tare demo | grep -E '^mistral'
ls there/mistral
tare verify there/mistral there/mistral.alt there/mistral-again there/mistral.mcf there/mistral.zt there/mistral.npz
tare hash there/mistral there/mistral-again there/mistral.mcf there/mistral.zt there/mistral.npz
tare info there/mistral.mcf | grep vocab_size
# the same bytes every time
cp there/demo.zt first.zt && tare demo there --force -q > /dev/null && cmp first.zt there/demo.zt && echo the same
# nothing is left behind
ls -A | grep tare-demo
touch file; tare demo file/below
