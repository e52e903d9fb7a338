tare demo files -q > /dev/null
tare extract files/demo.zt
tare extract files/demo.zt README.txt
tare extract files/demo.zt README.txt -o out.txt && cat out.txt
tare extract files/demo.zt README.txt -o out.txt
tare extract files/demo.zt --json
tare extract files/demo.zt readme.txt
tare extract tiny.zt
tare extract files/demo.zt -o out.txt
