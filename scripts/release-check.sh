#!/usr/bin/env bash
# A release in a copy, as far as this machine has the tools: nothing is sent and
# the checkout stays as it is. Says at the end what it could not try. QUICK=1
# leaves out what compiles for every platform; CI does, for time.
set -euo pipefail
cd "$(dirname "$0")/.."

copy=$(mktemp -d)
trap 'chmod -R u+w "$copy"; rm -rf "$copy"' EXIT
git ls-files -z --cached --others --exclude-standard | tar -c --null -T - | tar -x -C "$copy"
cd "$copy"
left_out=()

echo "== a source without a place is refused"
if scripts/tool packaging/publish -check 2>refusal; then
  echo "packaging/publish -check passes without a place"
  exit 1
fi
cat refusal && rm refusal

echo "== the same source at github.com/acme/quarry"
make --no-print-directory publish-as MODULE=github.com/acme/quarry
unformatted=$(gofmt -l .)
[ -z "$unformatted" ] || { echo "not formatted: $unformatted"; exit 1; }
go vet ./...
go vet -C tools ./...
go test -short . ./search ./change ./fault ./match ./tool ./toolset ./project ./internal/arch ./examples/...
go test -C tools -short ./packaging/...
STRESS=short go test -C tools -timeout 60m -run '^TestReproducible$' ./packaging
go doc github.com/acme/quarry Open >/dev/null
go build -o "$copy/bin/quarry" ./cmd/quarry && bin/quarry --version

if [ -n "${QUICK:-}" ]; then
  left_out+=("archives, packages, images and bundles: QUICK is set")
elif command -v goreleaser >/dev/null; then
  git init -q && git add -A
  git -c user.name=check -c user.email=check@example.com commit -q -m release
  git remote add origin https://github.com/acme/quarry.git
  git tag v0.0.1
  skip=publish
  command -v syft >/dev/null || { skip+=,sbom; left_out+=("the SBOM: no syft"); }
  docker info >/dev/null 2>&1 || { skip+=,docker; left_out+=("the images: no docker daemon"); }
  goreleaser check
  goreleaser release --snapshot --clean --skip="$skip"
  ls -l dist/*.tar.gz dist/*.zip dist/*.deb dist/*.rpm dist/checksums.txt bin/release/*.mcpb bin/release/server.json
  if command -v dpkg-deb >/dev/null; then
    dpkg-deb --field dist/*amd64.deb Package Section Priority Maintainer Homepage
  fi
else
  left_out+=("archives, packages and images: no goreleaser")
  scripts/tool packaging/bundle -version 0.0.1 -out bin/release
fi

[ ${#left_out[@]} -eq 0 ] || printf 'not tried: %s\n' "${left_out[@]}"
