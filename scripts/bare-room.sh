#!/usr/bin/env bash
# A bare machine: an ordinary user without a name, an empty home, empty caches,
# an empty environment, and nothing on the path but Go, git, a shell and the
# coreutils. Modules come through the proxy that go env names.
#
#   scripts/bare-room.sh             the commands of the README's first block, word
#                                    for word, in a clone of the last commit
#   scripts/bare-room.sh COMMAND...  another command, in such a clone
#
# The room is made by bubblewrap. Where that can't be had it is made by another
# user id and an empty environment, and says so (ROOM=user asks for that). LOG names
# a file for what the second command of the README prints, with the name of every
# test.
set -euo pipefail
source_dir=$(cd "$(dirname "$0")/.." && pwd)

room=$(mktemp -d)
page=
finish() {
  [ -z "$page" ] || kill -- "-$page" 2>/dev/null || true
  chmod -R u+w "$room" && rm -rf "$room"
}
trap finish EXIT
mkdir "$room/bin" "$room/home" "$room/tmp"
git clone -q "$source_dir" "$room/quarry"

# Every program of GNU coreutils that this machine has, Go, git and a shell.
for name in '[' arch b2sum base32 base64 basename basenc cat chgrp chmod chown cksum comm cp csplit cut date dd df dir \
  dircolors dirname du echo env expand expr factor false fmt fold groups head id install join link ln logname ls md5sum mkdir \
  mkfifo mknod mktemp mv nice nl nohup nproc numfmt od paste pathchk pinky pr printenv printf ptx pwd readlink realpath rm rmdir \
  sha1sum sha224sum sha256sum sha384sum sha512sum shred shuf sleep sort split stat stdbuf stty sum sync tac tail tee test \
  timeout touch tr true truncate tsort tty uname unexpand uniq unlink users vdir wc who whoami yes go gofmt git sh; do
  if program=$(type -P "$name"); then
    ln -s "$(readlink -f "$program")" "$room/bin/$name"
  fi
done

environment=(PATH="$room/bin" HOME="$room/home" TMPDIR="$room/tmp")
for name in GOPROXY GONOPROXY GOSUMDB GONOSUMDB GOPRIVATE GOINSECURE GOFLAGS GOTOOLCHAIN; do
  environment+=("$name=$(go env "$name")")
done
for name in HTTP_PROXY HTTPS_PROXY NO_PROXY http_proxy https_proxy no_proxy SSL_CERT_FILE SSL_CERT_DIR; do
  [ -z "${!name:-}" ] || environment+=("$name=${!name}")
done

enter=()
if [ "$(id -u)" = 0 ]; then
  # A number that nothing on this machine knows.
  user=48151
  chown -R "$user:$user" "$room"
  enter=(setpriv --reuid "$user" --regid "$user" --clear-groups)
  command -v setpriv >/dev/null || { echo "bare room: root needs setpriv (Debian: util-linux) to become an ordinary user"; exit 1; }
fi
box=(bwrap --ro-bind / / --dev /dev --proc /proc --tmpfs /tmp --bind "$room" "$room" --unshare-pid --die-with-parent)
if [ "${ROOM:-bwrap}" = bwrap ] && "${enter[@]}" env -i "PATH=$PATH" "${box[@]}" true 2>/dev/null; then
  enter+=(env -i "PATH=$PATH" "${box[@]}")
  echo "bare room: bubblewrap, as user $("${enter[@]}" id -u), $(ls "$room/bin" | wc -l) programs on the path"
else
  echo "bare room: bubblewrap can't be had here; user $("${enter[@]}" id -u) with an empty environment, $(ls "$room/bin" | wc -l) programs on the path"
fi
inside() { (cd "$room/quarry" && exec "${enter[@]}" env -i "${environment[@]}" "$@"); }

took() { printf '   %ss\n' $((SECONDS - start)); }
if [ $# -gt 0 ]; then
  start=$SECONDS
  inside "$@"
  took
  exit
fi

# The first code block below "## Start".
mapfile -t commands < <(awk '/^## Start$/ {in_start = 1} in_start && /^```/ {if (++fences == 2) exit; next} fences == 1' "$room/quarry/README.md")
[ ${#commands[@]} -eq 2 ] || { echo "README.md has ${#commands[@]} commands below Start, not two"; exit 1; }

# The page runs until it is stopped: it has to come up and answer.
echo "\$ ${commands[0]}"
start=$SECONDS
set -m
inside sh -c "${commands[0]}" >"$room/page.out" 2>&1 &
page=$!
set +m
until address=$(grep -om1 'http://[^ ]*' "$room/page.out"); do
  kill -0 "$page" 2>/dev/null || { cat "$room/page.out"; echo "the page ended"; exit 1; }
  [ $((SECONDS - start)) -lt 900 ] || { cat "$room/page.out"; echo "no page after 15 minutes"; exit 1; }
  sleep 0.2
done
host=${address#http://} host=${host%%/*} # a name below localhost, which not every resolver knows
exec 3<>"/dev/tcp/127.0.0.1/${host##*:}"
printf 'GET / HTTP/1.1\r\nHost: %s\r\nConnection: close\r\n\r\n' "$host" >&3
cat <&3 >"$room/page.html"
exec 3>&-
grep -qi '<!doctype html>' "$room/page.html" || { echo "$address is not the page"; exit 1; }
took
kill -INT -- "-$page"
wait "$page" || true
page=

echo "\$ ${commands[1]}"
start=$SECONDS
if [ -z "${LOG:-}" ]; then
  inside sh -c "${commands[1]}"
else
  # With -v in GOFLAGS the command is the README's and names what it skipped.
  for i in "${!environment[@]}"; do
    case ${environment[i]} in GOFLAGS=*) environment[i]="${environment[i]} -v" ;; esac
  done
  inside sh -c "${commands[1]}" >"$LOG" 2>&1 || {
    grep -aE '^(FAIL|panic:|go: )|^ *--- FAIL' "$LOG" | head -n 100 # all of them, and then what the last ones said
    grep -aE '^(FAIL|panic:|go: )|^ *--- FAIL|_test\.go:[0-9]+: ' "$LOG" | tail -n 300
    echo "the whole of it is in $LOG"
    exit 1
  }
  printf '   %s packages ok, %s tests passed, %s skipped\n' "$(grep -c '^ok' "$LOG")" "$(grep -cE '^ *--- PASS' "$LOG")" "$(grep -cE '^ *--- SKIP' "$LOG")"
fi
took
