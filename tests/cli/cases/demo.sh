tare demo | head -2
tare demo | tail -1
tare demo there | grep -E '^(FORMAT|zt|npz|npy) '
tare verify there/demo.zt there/demo.npz there/demo.npy
tare demo there
tare demo there --force --threads 1 | tail -1
# the same bytes every time
cp there/demo.zt first.zt && tare demo there --force -q > /dev/null && cmp first.zt there/demo.zt && echo the same
# nothing is left behind
ls -A | grep tare-demo
touch file; tare demo file/below
