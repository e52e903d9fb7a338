tare
tare help
tare --help | head -1
tare help ls
tare ls --help | head -1
tare ls -h --json nonsense too many | head -1
tare help help | head -1
tare help lss
tare --version | sed "s/[0-9][0-9.]*$/VERSION/"
tare version | sed "s/[0-9][0-9.]*$/VERSION/"
tare version extra
tare quantize -h
tare quantize --help | grep ':$'
tare help convert | grep ':$'
# one screen
pty --columns 80 tare help | wc -l
pty --columns 80 tare help | tr -d '\r' | sed 's/\^\[\[[0-9;]*m//g' | awk 'length > 80'
tare help --all
# the short help leaves out what most verbs have in common
tare diff -h
tare version -h
for verb in $(tare help --all | awk '/^  /{print $1}'); do tare $verb -h | grep -e '^ *--no-mmap' -e '^ *--max-expansion' -e '^ *-h, ' && echo $verb; done; true
for verb in $(tare help --all | awk '/^  /{print $1}'); do tare $verb -h | awk -v v=$verb 'END { if (NR > 48) print v, NR }'; done
tare help diff | grep ':$'
