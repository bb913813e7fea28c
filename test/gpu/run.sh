#!/bin/sh
# Everything on a GPU: packs the examples and the corpus and runs both bundles.
#   test/gpu/run.sh cuda sm_90a        on this machine, after `make build` and `toolchain install mlir triton`
#   test/gpu/run.sh pack sm_80,gfx942  only packs, into build/gpu: copy it to the machine and run each bundle's run.sh there
# Then `npm run gpu:report -- build/gpu/*` writes what came out into docs/performance.md.
set -u
device=${1:?cuda, hip, cpu or pack}
targets=${2:?the targets to compile for, as sm_90a}
cd "$(dirname "$0")/../.." || exit 3
out=build/gpu
for set in examples kernels; do
  # Heads of queries are a multiple of those of keys, which no default can know.
  node bin/tilewright.js pack $set/*.kernel.ts --target "$targets" --input b=2 --input hq=4 --input hkv=2 -o "$out/$set/"
  # 1: kernels whose inputs belong together in a way that cannot be guessed are told and left out.
  [ $? -le 1 ] || exit 3
done
[ "$device" = pack ] && exit 0
status=0
for set in examples kernels; do "$out/$set/run.sh" "$device" || status=1; done
exit $status
