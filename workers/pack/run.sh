#!/bin/sh
# Runs every kernel of this bundle and compares its results: ./run.sh [cpu|cuda|hip] [RUNS]
# Needs a driver and libc only. Writes results.json beside itself; ends with 1 where a result is wrong.
device=${1:-}
runs=${2:-20}
cd "$(dirname "$0")" || exit 3
here=$PWD
results=$here/results.json
failed=0
passed=0
separator=
printf '{"rows": [' > "$results"
for folder in */; do
  name=${folder%/}
  [ -f "$name/arguments" ] || continue
  cd "$here/$name" || exit 3
  # One argument a line.
  set --
  while IFS= read -r line; do set -- "$@" "$line"; done < arguments
  if [ -n "$device" ]; then set -- "$@" --device "$device"; fi
  if output=$("./$name.exe" "$@" --time "$runs" --json 2>&1); then
    echo "$name: passed"
    passed=$((passed + 1))
  else
    echo "$name: FAILED"
    failed=$((failed + 1))
  fi
  printf '%s\n' "$output" | sed '/^{/d; s/^/  /'
  row=$(printf '%s\n' "$output" | sed -n '/^{/p')
  if [ -z "$row" ]; then row='{"kernel": "'$name'", "pass": false}'; fi
  printf '%s\n  %s' "$separator" "$row" >> "$results"
  separator=,
  cd "$here" || exit 3
done
printf '\n]}\n' >> "$results"
echo "$passed passed, $failed failed"
[ "$failed" = 0 ]
