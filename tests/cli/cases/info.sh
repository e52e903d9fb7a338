tare info model.zt
tare info tiny.zt
tare info empty.zt
tare info --json model.zt | python3 -m json.tool
LC_ALL=C tare info tiny.zt
# more than 64 bits count
tare info vast.zt | head -6
tare info vast.zt --json | head -c 120
