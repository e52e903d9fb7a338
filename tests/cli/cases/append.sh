tare append tiny.zt one.npy same.npz
tare append tiny.zt one.npy
tare ls tiny.zt
tare verify tiny.zt
tare append tiny.zt model.zt --match 'layers.0*' --set author=me -q
tare info tiny.zt | head -2
tare append tiny.zt one.npy
tare append same.npz one.npy 2>&1 | sed 's/only .* files/only FORMATS files/'; echo "[${PIPESTATUS[0]}]"
tare append missing.zt one.npy
tare append tiny.zt
