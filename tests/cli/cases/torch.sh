# PyTorch's files are read, and what is in them is not run.
tare ls torch/pytorch_model.bin
tare info torch
tare show torch/pytorch_model.bin w
tare convert torch/pytorch_model.bin w.safetensors && tare diff w.safetensors torch
tare convert w.safetensors w.pt
tare convert w.safetensors w.bin --to torch 2>&1 | sed 's/one of zt, .*, not/one of FORMATS, not/'; echo "[${PIPESTATUS[0]}]"
# what a file asks for, and what it would have been able to do
tare verify torch/pytorch_model.bin
tare verify evil.pt
tare verify -q evil.pt
tare ls evil.pt
tare convert evil.pt evil.zt
