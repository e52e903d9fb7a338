tare demo files -q > /dev/null
tare extract files/demo.zt
tare extract files/demo.zt README.txt
tare extract files/demo.zt README.txt -o out.txt && cat out.txt
tare extract files/demo.zt README.txt -o out.txt
tare extract files/demo.zt --json
tare extract files/demo.zt readme.txt
tare extract tiny.zt
tare extract files/demo.zt -o out.txt
# onto a terminal: nothing that steers it, wherever in the text it is; elsewhere the bytes as they are
pty --stdout tare extract steer chat_template.jinja | tail -n 2
pty --stdout tare extract steer chat_template.jinja --force | tail -n 2
tare extract steer chat_template.jinja | cmp - steer/chat_template.jinja
tare extract steer chat_template.jinja -o copy.jinja && cmp copy.jinja steer/chat_template.jinja
