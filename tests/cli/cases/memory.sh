# room for some threads only
(ulimit -v 400000; tare verify big.zt --threads 200)
(ulimit -v 400000; tare run llama.bin --tokens 1,2 -n 2 --threads 200)
(ulimit -v 400000; tare convert big.zt - --to zt --zstd --threads 200 | wc -c)
# lack of memory is told as such, not as a bad file
tare verify needy.zt
(ulimit -v 40000; tare verify needy.zt --threads 1)
(ulimit -v 40000; tare hash needy.zt --threads 1)
