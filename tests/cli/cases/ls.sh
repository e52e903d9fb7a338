tare ls model.zt
tare ls model.zt --sort size --match '*weight'
tare ls model.zt --sort name --skip 'layers.*'
tare ls model.zt --sort type
tare ls model.zt --match 'layers.[12].mlp*' --sort offset
tare ls --no-mmap one.npy
tare ls empty.zt
# names cannot steer a terminal, nor break a line
tare ls names.zt
