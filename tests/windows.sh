#!/usr/bin/env bash
# Builds the program for Windows and tests it here, with Wine. Where Wine is absent it says so.
#
#   tests/windows.sh         the tests of every system, and the 1,000 runs: many minutes
#   tests/windows.sh smoke   the program, on a few runs
#
# It needs Wine for x86-64, the compiler x86_64-w64-mingw32-gcc, and the Rust target
# x86_64-pc-windows-gnu (Debian: wine64 gcc-mingw-w64-x86-64). With REQUIRE_TOOLS their absence fails.
set -euo pipefail
cd "$(dirname "$0")/.."

target=x86_64-pc-windows-gnu
wine=$(command -v wine64 || ls /usr/lib/wine/wine64 2> /dev/null || true)
absent() {
  echo "NOT CHECKED: Windows; there is no $1" >&2
  test -z "${REQUIRE_TOOLS:-}"
  exit
}
test -n "$wine" || absent wine64
command -v x86_64-w64-mingw32-gcc > /dev/null || absent x86_64-w64-mingw32-gcc
test -d "$(rustc --print sysroot)/lib/rustlib/$target" || absent "Rust target $target"

folder=${CARGO_TARGET_DIR:-$PWD/target}/wine
mkdir -p "$folder"
export WINEPREFIX=$folder/prefix WINEDEBUG=-all
# Wine 8 lacks a library that Rust's programs need.
library=$WINEPREFIX/drive_c/windows/system32/bcryptprimitives.dll
if [[ ! -e $library ]]; then
  "$wine" wineboot --init > /dev/null 2>&1
  cat > "$folder/stub.c" << 'EOF'
#include <windows.h>
#include <ntsecapi.h>
__declspec(dllexport) BOOL WINAPI ProcessPrng(PBYTE data, SIZE_T size) {
  return RtlGenRandom(data, (ULONG)size);
}
EOF
  x86_64-w64-mingw32-gcc -shared -O2 -o "$library" "$folder/stub.c" -ladvapi32
fi
# A share, which on Windows begins with two backslashes.
mkdir -p "$WINEPREFIX/dosdevices/unc/server/share"
export SHARE='\\server\share'
export FAKE_AGENT=$folder/fake-agent.exe
rustc --edition 2024 --target "$target" -o "$FAKE_AGENT" tests/support/fake_agent.rs

if [[ ${1:-} == smoke ]]; then
  cargo build --locked --target "$target"
  program=${CARGO_TARGET_DIR:-target}/$target/debug/ndjson-check.exe
  good=fixtures/agents/cursor/plain.ndjson
  # Runs the program, which must end with this exit code.
  expect() {
    local expected=$1 code=0
    shift
    "$wine" "$program" "$@" < /dev/null > "$folder/report" 2>&1 || code=$?
    if [[ $code != "$expected" ]]; then
      echo "exit code $code, not $expected: $*" >&2
      cat "$folder/report" >&2
      exit 1
    fi
  }
  expect 0 "$good"
  expect 0 -- "$FAKE_AGENT" emit "$good"
  expect 3 -- "$FAKE_AGENT" stderr no exit 1
  expect 4 --idle-timeout 300ms -- "$FAKE_AGENT" child "$folder/held" head 2 "$good" sleep 60
  expect 127 -- no-such-command
  exit
fi

export CARGO_TARGET_X86_64_PC_WINDOWS_GNU_RUNNER=$wine
cargo test --locked --target "$target" -p ndjson-check-core -p ndjson-check-secrets -p ndjson-check-shell --features run --lib
cargo test --locked --target "$target" --no-fail-fast --test it --test goldens --test handles
