#!/usr/bin/env bash
# Packs the schemas and the built-in profiles for a release, with the version in each `$id`:
# packaging/schemas.sh VERSION BINARY OUT
set -euo pipefail

version=$1 binary=$2 out=$3
base=https://github.com/ndjson-check/ndjson-check/releases/download/v$version
folder=$out/schemas
mkdir -p "$folder/events" "$folder/profiles"

# A profile has no `$schema` yet: it gets the one of the profile language.
with_id() {
  jq --arg id "$base/$1" --arg language "$base/profile.schema.json" \
    '{"$schema": (.["$schema"] // $language), "$id": $id} + del(.["$schema"], .["$id"])' \
    > "$folder/$1"
}

# All that `schema --help` names.
for what in $("$binary" schema --help | tr '\n' ' ' | sed 's/.*possible values: \([^]]*\).*/\1/' | tr -d ,); do
  if [[ $what != events ]]; then "$binary" schema "$what" | with_id "$what.schema.json"; fi
done
"$binary" profiles | sed -n '2,$s/^\([a-z][a-z-]*\) .*/\1/p' | while read -r profile; do
  "$binary" profiles "$profile" | with_id "profiles/$profile.json"
  "$binary" schema events --profile "$profile" | with_id "events/$profile.schema.json"
done
tar -czf "$out/schemas.tar.gz" -C "$out" schemas
