tare hash tiny.zt same.npz
tare hash tiny.zt missing.zt cut.zt same.npz
tare hash --json tiny.zt
tare hash --threads 1 --no-mmap tiny.zt
