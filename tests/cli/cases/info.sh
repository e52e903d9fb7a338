tare info model.zt
tare info tiny.zt
tare info empty.zt
tare info --json model.zt | python3 -m json.tool
LC_ALL=C tare info tiny.zt
