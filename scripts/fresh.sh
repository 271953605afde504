#!/usr/bin/env bash
# A new user's first day: clones the project, and runs the commands of the
# README's first block word for word, in a home folder that has nothing in it.
# Prints how long each took. Go's caches are the only thing kept, and only with
# KEEP_CACHES=1.
set -euo pipefail
source_dir=$(cd "$(dirname "$0")/.." && pwd)

fresh=$(mktemp -d)
page=
finish() {
  [ -z "$page" ] || kill -- "-$page" 2>/dev/null || true
  chmod -R u+w "$fresh" && rm -rf "$fresh"
}
trap finish EXIT

if [ -n "${KEEP_CACHES:-}" ]; then
  GOCACHE=$(go env GOCACHE) GOMODCACHE=$(go env GOMODCACHE)
  export GOCACHE GOMODCACHE
else
  unset GOCACHE GOMODCACHE
fi
export HOME=$fresh/home
unset XDG_CONFIG_HOME XDG_STATE_HOME XDG_CACHE_HOME XDG_DATA_HOME XDG_RUNTIME_DIR GOPATH
mkdir "$HOME"

git clone -q "$source_dir" "$fresh/quarry"
cd "$fresh/quarry"

# The first code block below "## Start".
mapfile -t commands < <(awk '/^## Start$/ {in_start = 1} in_start && /^```/ {if (++fences == 2) exit; next} fences == 1' README.md)
[ ${#commands[@]} -eq 2 ] || { echo "README.md has ${#commands[@]} commands below Start, not two"; exit 1; }

took() { printf '   %ss\n' $((SECONDS - start)); }

# The page runs until it is stopped: it has to come up and answer.
echo "\$ ${commands[0]}"
start=$SECONDS
set -m
bash -c "${commands[0]}" >"$fresh/page.out" 2>&1 &
page=$!
set +m
until address=$(grep -om1 'http://[^ ]*' "$fresh/page.out"); do
  kill -0 "$page" 2>/dev/null || { cat "$fresh/page.out"; echo "the page ended"; exit 1; }
  [ $((SECONDS - start)) -lt 600 ] || { cat "$fresh/page.out"; echo "no page after 10 minutes"; exit 1; }
  sleep 0.2
done
host=${address#http://} host=${host%%/*} # a name below localhost, which not every resolver knows
# Into a file: grep -q ends at the first match, and curl would fail on the closed pipe.
curl -fsS --resolve "$host:127.0.0.1" -o "$fresh/page.html" "http://$host/"
grep -qi '<!doctype html>' "$fresh/page.html" || { echo "$address is not the page"; exit 1; }
took
kill -INT -- "-$page"
wait "$page" || true
page=

echo "\$ ${commands[1]}"
start=$SECONDS
bash -c "${commands[1]}"
took
