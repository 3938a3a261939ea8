#!/usr/bin/env bash
# The step of action.yml: finds or downloads the program, and becomes it. Every input of the action
# is in a variable INPUT_*. It works with the Bash 3.2 of macOS.
#
# NDJSON_CHECK_BIN      the program to use, in place of a release
# NDJSON_CHECK_RELEASES where the releases are, for runners behind a mirror
set -euo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
releases=${NDJSON_CHECK_RELEASES:-https://github.com/ndjson-check/ndjson-check/releases/download}

# The message is ours: an input in it could forge a workflow command.
fail() {
  echo "::error title=ndjson-check::$1"
  printf 'passed=false\nverdict=not-checked\nexit-code=2\n' >> "$GITHUB_OUTPUT"
  exit 2
}

# The name of this runner's binaries.
target() {
  case "$(uname -s)-$(uname -m)" in
    Linux-x86_64) echo x86_64-unknown-linux-musl ;;
    Linux-aarch64 | Linux-arm64) echo aarch64-unknown-linux-musl ;;
    Darwin-x86_64) echo x86_64-apple-darwin ;;
    Darwin-arm64) echo aarch64-apple-darwin ;;
    MINGW*-x86_64 | MSYS*-x86_64) echo x86_64-pc-windows-msvc ;;
    *) return 1 ;;
  esac
}

sha256() {
  # From standard input: a name with a backslash, as on Windows, would change the line.
  if command -v sha256sum > /dev/null; then sha256sum; else shasum -a 256; fi < "$1" | cut -d ' ' -f 1
}

fetch() {
  curl --proto '=https,file' --fail --silent --show-error --location --retry 3 --output "$2" "$1"
}

# Sets `program` to a release that was downloaded and compared with its SHA-256.
download() {
  local version=${INPUT_VERSION#v} name folder expected
  if [[ -z $version ]]; then
    version=$(sed -n 's/^version = "\(.*\)"$/\1/p' "$here/../Cargo.toml" | head -n 1)
  fi
  [[ $version =~ ^[0-9]+\.[0-9]+\.[0-9]+(-[0-9A-Za-z.]+)?$ ]] || fail 'the version must be like 0.1.0'
  name=ndjson-check-$version-$(target) || fail 'there is no binary for this runner: set NDJSON_CHECK_BIN'
  folder=${RUNNER_TEMP:?}/$name
  program=$folder/ndjson-check
  # An earlier step of this job may have got it.
  if [[ -e $folder/checked ]]; then return; fi
  mkdir -p "$folder"
  fetch "$releases/v$version/$name.tar.gz" "$folder/archive" || fail 'cannot download the release'
  fetch "$releases/v$version/$name.tar.gz.sha256" "$folder/sha256" || fail 'cannot download the checksum'
  expected=$(cut -d ' ' -f 1 "$folder/sha256")
  if [[ ${#expected} != 64 || $(sha256 "$folder/archive") != "$expected" ]]; then
    fail 'the SHA-256 of the download is not that of the release'
  fi
  # Not by its whole name: `D:` would be a host for tar.
  (cd "$folder" && tar -xzf archive --strip-components 1) || fail 'cannot unpack the release'
  touch "$folder/checked"
}

# Adds `--NAME=VALUE` if there is a value.
option() {
  if [[ -n $2 ]]; then arguments+=("--$1=$2"); fi
}

# Adds the lines of `args`. Spaces around an option, and between it and its value, are no part of them.
add_args() {
  local line
  while read -r line; do
    if [[ $line =~ ^(-[^=[:blank:]]*)[[:blank:]]+(.*)$ ]]; then
      arguments+=("${BASH_REMATCH[1]}" "${BASH_REMATCH[2]}")
    elif [[ -n $line && $line != '#'* ]]; then
      arguments+=("$line")
    fi
  done <<< "${INPUT_ARGS//$'\r'/}"
}

# Writes a page of the run to the file that the user names. The next step uploads it.
page_of_run() {
  local name=${INPUT_REPORT##*/}
  # Each line of the file of outputs is one of them.
  [[ $INPUT_REPORT =~ ^[A-Za-z0-9_./\ -]+\.html$ ]] || fail 'report must be a plain name such as run.html'
  arguments+=("--report=html=$INPUT_REPORT")
  # Jobs of a matrix have the same name.
  printf '%s\n' "page=$name-${GITHUB_JOB:-job}-$RANDOM$RANDOM" "page-file=$INPUT_REPORT" \
    "page-folder=${INPUT_REPORT%.html}.pages" >> "$GITHUB_OUTPUT"
}

# The name of the run in all reports: that of the program with which the script begins.
name_of_run() {
  local word
  while read -r word _; do
    case $word in '' | '#'*) continue ;; esac
    word=${word//[\"\']/}
    word=${word##*/}
    # As `sh`, `su` or `rbash`, Bash behaves in another way.
    case $word in sh | su | rbash) break ;; esac
    case $(type -t "$word") in builtin | keyword) break ;; esac
    if [[ $word =~ ^[A-Za-z0-9][A-Za-z0-9._+-]*$ ]]; then
      echo "$word"
      return
    fi
    break
  done <<< "$INPUT_RUN"
  echo bash
}

if [[ -n $INPUT_RUN && -n $INPUT_FILE ]]; then
  fail 'the inputs run and file exclude each other'
elif [[ -z $INPUT_RUN && -z $INPUT_FILE ]]; then
  fail 'there is nothing to check: run and file are empty; did the step before write its file?'
fi

if [[ -n ${NDJSON_CHECK_BIN:-} ]]; then
  program=$NDJSON_CHECK_BIN
elif [[ -n $INPUT_VERSION ]] || ! program=$(command -v ndjson-check); then
  download
fi

# Named, so that a report in `args` comes in addition.
arguments=(--report human --report github)
option profile "$INPUT_PROFILE"
option config "$INPUT_CONFIG"
option baseline "$INPUT_BASELINE"
option redact "$INPUT_REDACT"
option timeout "$INPUT_TIMEOUT"
option idle-timeout "$INPUT_IDLE_TIMEOUT"
if [[ -n $INPUT_REPORT ]]; then page_of_run; fi
add_args

if [[ -n $INPUT_RUN ]]; then
  option tee "$INPUT_RECORDING"
  if [[ $INPUT_SHOW != none ]]; then option to "$INPUT_SHOW"; fi
  # The last step of action.yml removes it.
  folder=${RUNNER_TEMP:?}/ndjson-check-run
  rm -rf "$folder"
  mkdir -m 700 "$folder" "$folder/bin"
  # The script of the user has its job's summary all the same. Its lines keep their numbers.
  if [[ $INPUT_SUMMARY == false ]]; then
    printf 'export GITHUB_STEP_SUMMARY=%q; ' "${GITHUB_STEP_SUMMARY:-}" > "$folder/script"
  fi
  printf '%s\n' "$INPUT_RUN" >> "$folder/script"
  case "$(uname -s)" in
    # A copy or a link of this Bash would not find its library.
    MINGW* | MSYS*) bash=$(cygpath -w "$(command -v bash)") ;;
    *)
      # A run has the name of its program.
      bash=$folder/bin/$(name_of_run)
      ln -s "$(command -v bash)" "$bash"
      ;;
  esac
  # As GitHub runs a step with `shell: bash`. An agent that waits for its input would never end.
  arguments+=(--no-stdin -- "$bash" --noprofile --norc -e -o pipefail "$folder/script")
else
  # Not an option, and not the name of a subcommand.
  case $INPUT_FILE in /* | [A-Za-z]:[\\/]*) ;; *) INPUT_FILE=./$INPUT_FILE ;; esac
  arguments+=("$INPUT_FILE")
fi

if [[ $INPUT_SUMMARY == false ]]; then export GITHUB_STEP_SUMMARY=/dev/null; fi
# The script of the user has no use for them.
unset "${!INPUT_@}"
exec "$program" "${arguments[@]}"
