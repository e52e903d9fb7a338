# the table grows with every format; these rows stay
tare formats | grep -E '^(zt|npz|npy) '
tare formats npy
tare formats gguff
tare formats --layouts | grep -E '^(dense|sparse_csr|quantized_group) '
tare formats --json | python3 -c 'import json, sys; d = json.load(sys.stdin); print(sorted(d), sorted(d["formats"][0]))'
tare formats --markdown | grep -E '^\| (format|`npy`)'
tare formats --markdown --layouts | grep -E '^\| (layout|`dense`)'
tare formats --json --markdown
