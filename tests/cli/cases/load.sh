# No driver: said, and nothing else suffers.
TARE_CUDA_LIBRARY=nowhere.so tare load model.zt
TARE_CUDA_LIBRARY=libm.so.6 tare load model.zt
# The driver of the tests. What depends on the clock is left out.
export TARE_CUDA_LIBRARY=$FAKE_CUDA; tare load model.zt --threads 1 | sed 's/ in [0-9.]* s$//; s/[0-9.]* GB.s/N GB\/s/g; s/[0-9]* %/N %/; s/[0-9.]* ms/N ms/'
export TARE_CUDA_LIBRARY=$FAKE_CUDA; tare load model.zt --threads 1 --verify --json | sed 's/"\([a-z_]*seconds\|[a-z_]*per_second\)":[0-9.e+-]*/"\1":N/g'
export TARE_CUDA_LIBRARY=$FAKE_CUDA; tare load model.zt --threads 1 --match 'nothing*' --json | sed 's/"\([a-z_]*seconds\|[a-z_]*per_second\)":[0-9.e+-]*/"\1":N/g'
export TARE_CUDA_LIBRARY=$FAKE_CUDA; tare load model.zt --dtype bf16 --repeat 2 --json | wc -l
# What is wrong with the device or the command line.
TARE_CUDA_LIBRARY=$FAKE_CUDA tare load model.zt --device cuda:1
TARE_CUDA_LIBRARY=$FAKE_CUDA tare load model.zt --device gpu
TARE_CUDA_LIBRARY=$FAKE_CUDA TARE_FAKE_CUDA=devices=0 tare load model.zt
TARE_CUDA_LIBRARY=$FAKE_CUDA TARE_FAKE_CUDA=version=10010 tare load model.zt
TARE_CUDA_LIBRARY=$FAKE_CUDA TARE_FAKE_CUDA=memory=100 tare load model.zt
TARE_CUDA_LIBRARY=$FAKE_CUDA TARE_FAKE_CUDA=fail=cuMemcpyHtoDAsync_v2:0:719 tare load model.zt
TARE_CUDA_LIBRARY=$FAKE_CUDA tare load nowhere.zt
TARE_CUDA_LIBRARY=$FAKE_CUDA tare load model.zt --dtype i8
TARE_CUDA_LIBRARY=$FAKE_CUDA tare load model.zt --pinned many
TARE_CUDA_LIBRARY=$FAKE_CUDA tare load model.zt --pinned 1KiB
