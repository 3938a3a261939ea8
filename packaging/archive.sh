#!/usr/bin/env bash
# Packs a binary for a release, with completions and the manual page. It must run on this machine:
# packaging/archive.sh VERSION TARGET BINARY OUT
set -euo pipefail

version=$1 target=$2 binary=$3 out=$4
name=ndjson-check-$version-$target
root=$(cd "$(dirname "$0")/.." && pwd)
mkdir -p "$out/$name"
cp "$binary" "$root/README.md" "$root/CHANGELOG.md" "$root/LICENSE" "$out/$name/"
mkdir "$out/$name/completions"
"$binary" completions bash > "$out/$name/completions/ndjson-check.bash"
"$binary" completions fish > "$out/$name/completions/ndjson-check.fish"
"$binary" completions powershell > "$out/$name/completions/_ndjson-check.ps1"
"$binary" completions zsh > "$out/$name/completions/_ndjson-check"
"$binary" man > "$out/$name/ndjson-check.1"
tar -czf "$out/$name.tar.gz" -C "$out" "$name"
rm -r "${out:?}/$name"
cd "$out"
if command -v sha256sum > /dev/null; then sha256sum "$name.tar.gz"; else shasum -a 256 "$name.tar.gz"; fi \
  > "$name.tar.gz.sha256"
