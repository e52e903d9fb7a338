tare diff tiny.zt same.npz
tare diff tiny.zt other.zt
tare diff -q tiny.zt tiny.zt
tare diff --json tiny.zt other.zt
tare diff tiny.zt other.zt --match nothing
tare diff tiny.zt model.zt --match w
tare diff tiny.zt model.zt --match w --tensors
tare diff tiny.zt missing.zt
