tare convert tiny.zt
tare convert tiny.zt out 2>&1 | sed 's/(\.zt .*)/(SUFFIXES)/'; echo "[${PIPESTATUS[0]}]"
tare convert tiny.zt out --to zip 2>&1 | sed 's/one of zt, .*, not/one of FORMATS, not/'; echo "[${PIPESTATUS[0]}]"
tare convert tiny.zt out.npz --zstd 2> err; echo $?; sed 's/; .* do\(es\)*$/; OTHERS do/' err
tare convert tiny.zt out.npz --digest sha256 2> err; echo $?; sed 's/; .* do\(es\)*$/; OTHERS do/' err
tare convert tiny.zt out.npz --dedup 2> err; echo $?; sed 's/; .* do\(es\)*$/; OTHERS do/' err
tare convert tiny.zt out.zt --zstd=99
tare convert tiny.zt out.zt --zstd fast
tare convert tiny.zt out.zt --digest md5
tare convert tiny.zt out.zt --dtype f31
tare convert tiny.zt out.zt --quant q0
tare convert tiny.zt out.zt --set nothing
tare convert tiny.zt out.zt --threads many
tare convert tiny.zt out.zt --match nope
tare convert tiny.zt out.zt --skip nope
tare convert tiny.zt -
tare convert tiny.zt - --to zt --json
pty --stdout tare convert tiny.zt - --to zt
# what exists is kept
echo old > out.zt; tare convert tiny.zt out.zt; cat out.zt
tare convert tiny.zt out.zt --force -q; tare ls out.zt
tare convert tiny.zt tiny.zt
tare convert tiny.zt tiny.zt --force --set k=1 -q && tare info tiny.zt | tail -2
tare convert tiny.zt nowhere/out.zt
mkdir folder; tare convert tiny.zt folder --to zt
# a bad input leaves the old output alone, and no temporary file
echo old > keep.zt; tare convert cut.zt keep.zt --force; cat keep.zt; ls -A | grep tmp
tare convert tiny.zt /dev/full --to zt
tare convert tiny.zt /dev/full --to zt --force
mkfifo fifo; tare convert tiny.zt fifo --to zt
tare convert tiny.zt - --to zt > /dev/full
# a limit on the size of files is a full disk
(ulimit -f 1024; tare convert big.zt limited.zt); ls -A | grep -e limited -e tmp
# bytes of a file do not cut a sentence
tare convert nul.zt nul.npz
