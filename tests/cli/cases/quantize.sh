# methods, recipes and the table
tare quantize model.zt k4.zt --method k4
tare ls k4.zt
tare quantize model.zt mixed.zt --method q8 --method 'layers*=k6' --keep 'embed*' -q
tare quantize model.zt fast.zt --method k4 --fast --json
tare verify -q k4.zt mixed.zt fast.zt && echo sound
# a budget
tare quantize model.zt budget.zt --bits 6
tare quantize model.zt low.zt --bits 1
# what it cost, per tensor
tare diff --tensors model.zt k4.zt
tare diff model.zt k4.zt embed.weight --bins 6
tare diff model.zt k4.zt embed.weight --bins 2 --json
# what makes no sense
tare quantize model.zt bad.zt
tare quantize model.zt bad.zt --method k5
tare quantize model.zt bad.zt --method k4 --bits 5
tare quantize model.zt bad.zt --method k4 --clip 1
tare quantize model.zt bad.zt --method k4 --clip 2,1
tare quantize model.zt bad.zt --method k4 --keep 'no*'
tare quantize model.zt bad.zt --method k4 --head q8
tare quantize model.zt bad.npz --method k4
tare quantize model.zt k4.zt --method k4
ls bad*
