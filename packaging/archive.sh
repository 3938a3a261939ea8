#!/usr/bin/env bash
# Packs a binary for a release: packaging/archive.sh VERSION TARGET BINARY OUT
set -euo pipefail

version=$1 target=$2 binary=$3 out=$4
name=ndjson-check-$version-$target
root=$(cd "$(dirname "$0")/.." && pwd)
mkdir -p "$out/$name"
cp "$binary" "$root/README.md" "$root/CHANGELOG.md" "$root/LICENSE" "$out/$name/"
tar -czf "$out/$name.tar.gz" -C "$out" "$name"
rm -r "${out:?}/$name"
cd "$out"
if command -v sha256sum > /dev/null; then sha256sum "$name.tar.gz"; else shasum -a 256 "$name.tar.gz"; fi \
  > "$name.tar.gz.sha256"
