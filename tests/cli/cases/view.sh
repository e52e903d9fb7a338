# one answer of the server, without the server
tare view model.zt --json 'tensors?count=2'
tare view model.zt --json 'values?tensor=0&slice=:4'
tare view model.zt --json nothing
tare view model.zt --json 'tensor?tensor=no.such'
tare view model.zt --json 'tensors?count=501'
tare view missing.zt
tare view model.zt --listen example.org
tare view model.zt --port 65536
tare view model.zt --host http://x
# a report, and single pictures
tare report model.zt -o page.html && head -c 15 page.html && grep -c 'id="answers"' page.html
tare report model.zt -o page.html
tare report model.zt -o page.html --force
cp model.zt own.zt; ln -s own.zt link.zt; tare report own.zt -o link.zt --force; cmp own.zt model.zt && echo whole
tare report model.zt --svg treemap | head -2
tare report model.zt --svg nothing
tare report model.zt --svg heat:no.such
# what is about two models, with one and with two
tare view model.zt --json compare
tare view model.zt --json compare/start
tare view model.zt --json compare/all
tare view model.zt --json compare/stop
tare report model.zt --svg errors
tare view model.zt own.zt --json compare/stop
