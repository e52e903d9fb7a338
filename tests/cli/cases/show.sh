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
