# a file in the place of the verb is shown; words that other programs use work
tare tiny.zt | head -1
tare tiny.zt --json | cut -c 1-40
tare inspect tiny.zt | head -1
tare cp --help | head -1
tare info tiny.zt model.zt missing.zt | grep "^[a-z].*: zT"
tare info --json tiny.zt model.zt | cut -c 1-22
# what is not there: a sentence that helps
tare info tinny.zt
tare tinny.zt
tare info -
tare info ftp://example.org/model.gguf
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
tare convert tiny.zt folder
# options and values of other verbs and programs
tare quantize tiny.zt out.gguf q4_k_m
tare convert tiny.zt out.gguf F16
tare quantize tiny.zt out.gguf --quant q8_0
tare quantize tiny.zt out.gguf --type q8_0
tare convert tiny.zt out.gguf --method q8_0
tare convert tiny.zt out.gguf --outtype f16
tare convert tiny.zt out.gguf --overwrite
tare convert tiny.zt out.gguf -y
tare quantize tiny.zt out.gguf --method q8_k
tare convert tiny.zt out.gguf --quant Q8_K
tare convert tiny.zt out.gguf --dtype int4
tare convert tiny.zt out.gguf --dtype q8_0
tare quantize tiny.zt out.gguf --dtype q8_0
tare convert tiny.zt out.gguf --dtype fp8
tare merge tiny.zt lora
tare -v
# models and directories that do not exist
tare HuggingFaceTB/SmolLM2-135M
tare info HuggingFaceTB/SmolLM2-135M.gguf
tare verify HuggingFaceTB/SmolLM2-135M; tare verify -q tinny.zt
tare convert tiny.zt missing/below/out.zt
tare convert tiny.zt missing/below/
tare ls model.zt --match 'layers'
