# no thread is to be had: slower, not an error
as-user bash -c 'ulimit -u 1; exec tare verify big.zt --threads 8'
as-user bash -c 'ulimit -u 1; exec tare hash big.zt --threads 8'
as-user bash -c 'ulimit -u 1; exec tare run llama.bin --tokens 1,2 -n 2 --threads 8'
as-user bash -c 'ulimit -u 1; exec tare convert big.zt - --to zt --zstd --threads 8' | wc -c
pty --stderr as-user bash -c 'ulimit -u 1; exec tare hash tiny.zt --threads 8'
