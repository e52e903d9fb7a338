tare plan job.json --tasks 3 -- model.zt out.mcf --quant k4 --drop attributes
tare finish job.json
tare task job.json 2
tare task job.json 0
tare finish job.json
tare task job.json 1
tare task job.json 1
tare task job.json 3
tare finish job.json
tare convert model.zt direct.mcf --quant k4 --drop attributes -q
cmp out.mcf direct.mcf && ls job*
tare plan job.json -- model.zt out.mcf
tare plan other.json -- model.zt -
tare plan other.json -- model.zt
tare plan other.json -- missing.zt out.mcf
sed 's/model/modal/' job.json > changed.json
tare task changed.json 0
tare finish model.zt
tare finish missing.json
