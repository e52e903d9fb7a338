# a file in the place of the verb is shown; words that other programs use work
tare tiny.zt | head -1
tare tiny.zt --json | cut -c 1-40
tare inspect tiny.zt | head -1
tare compare tiny.zt tiny.zt
tare info tiny.zt model.zt missing.zt | grep "^[a-z].*: zT"
tare info --json tiny.zt model.zt | cut -c 1-22
# what is not there: a sentence that helps
tare info tinny.zt
tare tinny.zt
tare info -
tare info https://example.org/model.gguf
tare info modle.zt
# spellings of types and methods
tare convert tiny.zt half.zt --dtype float16 -q; tare ls half.zt
tare convert tiny.zt half.zt --dtype BFloat16 -q -f; tare ls half.zt
tare convert tiny.zt half.zt --dtype floaat16
tare convert tiny.zt out.gguf --quant q4km
tare convert tiny.zt out.gguf --to ggfu 2>&1 | grep -o 'not .ggfu.*'
tare quantize tiny.zt out.gguf --method q4km
tare convert tiny.zt half.zt --dtype f1
tare quantize tiny.zt half.zt --method Float16 -q -f > /dev/null; tare ls half.zt
tare quantize tiny.zt half.zt --method f166
tare quantize tiny.zt half.zt --method q8_0 --to ggfu 2>&1 | grep -o 'did you mean.*'
tare compar tiny.zt tiny.zt
tare help inspct
tare -
# where the output is named, and what its suffix is
tare convert tiny.zt -o out.zt
tare quantize tiny.zt --output=out.mcf --method k4
tare convert tiny.zt out.mfc
tare convert tiny.zt out.GUF
tare convert tiny.zt out.xyz 2>&1 | sed 's/([^)]*)/(SUFFIXES)/'
tare mistral
tare tinny
