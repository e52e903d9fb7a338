# one screen: no wider than 80 columns, and with the command and the next prompt no longer than 50 lines
tare demo
tare demo | awk 'length > 80 { print "wide" } END { if (NR > 48) print "long" }'
pty tare demo
pty --columns 50 tare demo --color never
# with the files kept, and what changed; the table of containers grows with every format, these rows stay
tare demo there -v | grep -E '^(FORMAT|zt|npz|npy|alt|mistral.alt)[: ]'
tare demo there
tare demo there/
tare demo there --force --threads 1 | tail -5
mkdir here; cd here; tare demo . | tail -5; tare demo .
tare verify there/demo.zt there/demo.npz there/demo.npy
ls there/mistral
tare verify there/mistral there/mistral.alt there/back there/mistral.mcf there/mistral.zt there/k4.mcf
# ALT has no vocab_size, the way back counts it
tare hash there/mistral there/back there/mistral.mcf there/mistral.zt
tare info there/mistral.mcf | grep vocab_size
# the same bytes every time
cp there/demo.zt first.zt && tare demo there --force -q > /dev/null && cmp first.zt there/demo.zt && echo the same
# nothing is left behind
ls -A | grep tare-demo
touch file; tare demo file/below
tare demo -q -v
