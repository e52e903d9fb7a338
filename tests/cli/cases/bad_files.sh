tare ls missing.zt
tare ls .
mkfifo pipe; tare ls pipe
tare ls /dev/null
tare ls pointer.zt
tare ls page.zt
tare ls second.zt
tare ls nothing.zt
tare ls words.txt
tare ls cut.zt
tare ls misaligned.zt
tare ls "$(printf 'no\033[31m\nsuch')"
chmod 000 tiny.zt; as-user tare ls tiny.zt
tare hash missing.zt; tare info missing.zt; tare show missing.zt x; tare cat missing.zt x; tare extract missing.zt
