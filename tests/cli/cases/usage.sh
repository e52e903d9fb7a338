tare lss tiny.zt
tare frobnicate
tare --frobnicate
tare ls
tare ls tiny.zt model.zt
tare ls --jsno tiny.zt
tare ls --frobnicate tiny.zt
tare ls -x tiny.zt
tare ls --sort
tare ls --sort colour tiny.zt
tare ls --json=yes tiny.zt
tare ls --color=sometimes tiny.zt
tare show tiny.zt
tare hash --threads -1 tiny.zt
tare hash --threads 99999 tiny.zt
# a file whose name looks like an option, a sort given twice, options after operands, an empty operand
cp tiny.zt ./--json; tare ls -- --json
tare ls tiny.zt --sort name --sort size
tare ls ''
tare completions tcsh
