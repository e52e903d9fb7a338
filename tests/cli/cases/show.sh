tare show model.zt embed.weight --bins 8
LC_ALL=C tare show model.zt embed.weight --bins 4
tare show model.zt router --bins 4
tare show odd.zt 'has nan' --bins 4
tare show tiny.zt w --json --bins 3
tare show model.zt embed.weigth
tare show model.zt attention
tare show model.zt zzzzzzzz
tare show names.zt 'line\nfeed' --bins 1
tare show tiny.zt w --bins 0
# integers are exact
tare show whole.zt i --bins 1
tare show whole.zt u --json --bins 1
# nothing finite: no least, largest or mean
python3 -c "open('n.npy','wb').write(b'\x93NUMPY\x01\x00' + (118).to_bytes(2,'little') + b\"{'descr': '<f4', 'fortran_order': False, 'shape': (2,), }\".ljust(117) + b'\n' + bytes.fromhex('0000c07f0000807f'))"
tare show n.npy n --json --bins 1
tare show n.npy n --bins 1
# a few far values: the histogram shows the others, and says how many there are
python3 -c "import array; d=array.array('f',[(i % 1000) / 500 - 1 for i in range(5000)] + [4000, -300]).tobytes(); open('far.npy','wb').write(b'\x93NUMPY\x01\x00' + (118).to_bytes(2,'little') + b\"{'descr': '<f4', 'fortran_order': False, 'shape': (5002,), }\".ljust(117) + b'\n' + d); open('near.npy','wb').write(b'\x93NUMPY\x01\x00' + (118).to_bytes(2,'little') + b\"{'descr': '<f4', 'fortran_order': False, 'shape': (5002,), }\".ljust(117) + b'\n' + bytes(4) + d[:-4])"
tare show far.npy far --bins 4
tare show far.npy far --bins 4 --json | grep -o '"histogram".*"first"'
# NaN and infinities come first, in yellow
tare show n.npy n --bins 1 --color always
# equal numbers have no histogram
python3 -c "open('zero.npy','wb').write(b'\x93NUMPY\x01\x00' + (118).to_bytes(2,'little') + b\"{'descr': '<f4', 'fortran_order': False, 'shape': (4,), }\".ljust(117) + b'\n' + bytes(16))"
tare show zero.npy zero
