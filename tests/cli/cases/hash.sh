tare hash tiny.zt same.npz
tare hash tiny.zt missing.zt cut.zt same.npz
tare hash --json tiny.zt
tare hash --threads 1 --no-mmap tiny.zt
# the name of a file is a line's end, not a line of its own
cp tiny.zt "$(printf 'x\ntare1:0  forged\033[31m\302\233.zt')"
tare hash x*
pty --stdout tare hash x*
tare hash --json x*
# OpenSSL without any algorithm: the digests are the same
OPENSSL_CONF=nossl.cnf tare hash tiny.zt same.npz
OPENSSL_CONF=nossl.cnf tare convert tiny.zt digest.zt --digest sha256; ls digest.zt
# The content digest of zTensor 2: of its files, and of what would be one.
tare convert same.npz two.zt --to zt2 -q && tare hash --zt2 two.zt same.npz
