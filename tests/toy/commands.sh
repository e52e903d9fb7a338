tare formats --json | grep -o '"name":"toy","title":"Toy Box"'
tare convert tiny.zt box.toy
tare ls box.toy
tare verify --strict box.toy
tare convert box.toy back.zt
tare hash box.toy back.zt
tare diff box.toy back.zt
head -c 40 box.toy > cut.toy; tare ls cut.toy
tare append box.toy box.toy
tare help formats | head -3
