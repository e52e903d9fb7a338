# the contract, exactly
tare ls --json tiny.zt
tare ls --json empty.zt
tare ls --json model.zt --match 'r*' --match mask
tare ls --json model.zt --match step --sort name | python3 -m json.tool
tare ls --json names.zt | python3 -c 'import json, sys; print([t["name"] for t in json.load(sys.stdin)["tensors"]])'
tare ls --json model.zt --sort size | python3 -c 'import json, sys; print([(t["name"], t["bytes"]) for t in json.load(sys.stdin)["tensors"]][:3])'
tare ls --json same.npz | python3 -c 'import json, sys; d = json.load(sys.stdin); print(d["format"], d["tensors"][0]["dtype"], list(d))'
# nothing that steers a terminal, and the same values
tare ls steering.zt --json
tare info steering.zt --json | python3 -c 'import json,sys; print(ascii(json.load(sys.stdin)["metadata"]))'
tare ls steering.zt --json | python3 -c 'import json,sys; print(ascii([(t["name"], t["attributes"]) for t in json.load(sys.stdin)["tensors"]]))'
tare ls opaque/model.safetensors --json
