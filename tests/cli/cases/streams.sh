# a full disk is told, a reader that goes away is not
tare ls model.zt > /dev/full
tare cat tiny.zt w > /dev/full
tare help > /dev/full
tare verify tiny.zt > /dev/full
tare cat big.zt t0 | head -c 1 | od -An -c; echo "${PIPESTATUS[@]}"
for i in 1 2 3 4 5 6 7 8 9; do tare man; done | head -c 1 > /dev/null
tare convert big.zt - --to zt | head -c 4 | od -An -c; echo "${PIPESTATUS[@]}"
tare ls tiny.zt >&-
# several files: the first one that cannot be printed ends the work, without a message
for verb in info hash verify; do exec 3> >(:); wait $!; tare $verb tiny.zt model.zt missing.zt >&3; echo $?; done
