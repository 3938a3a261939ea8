#!/usr/bin/env bash
# Compares the speed of the check with public tools. README.md in this folder explains the rows.
set -euo pipefail
export LC_ALL=C
cd "$(dirname "$0")/.."

mib=512
keep=
binary=
while (($#)); do
  case $1 in
    --keep) keep=yes ;;
    --mib) mib=${2-} && shift ;;
    --binary) binary=$(realpath -- "${2-}") && shift ;;
    *) mib= ;;
  esac
  shift || mib=
done
if ! [[ $mib =~ ^[1-9][0-9]*$ ]]; then
  echo "usage: benches/compare.sh [--mib N] [--keep] [--binary FILE]" >&2
  exit 2
fi

# --- The tools.

missing=
need() { type -P "$1" >/dev/null || { missing=yes && echo "benches/compare.sh needs $1: $2" >&2; }; }
need cargo "https://rustup.rs"
need hyperfine "apt install hyperfine, or cargo install hyperfine (1.15 or later)"
need jq "apt install jq"
need time "apt install time (GNU time, a program)"
[[ -z $missing ]] || exit 2
time=$(type -P time)

echo "building ..." >&2
cargo build --quiet --release --locked --bin ndjson-check --example corpus
built=$(cargo metadata --format-version 1 --no-deps --offline | jq -r .target_directory)/release
binary=${binary:-$built/ndjson-check}

# --- The corpora, in memory if there is room: four of the full size, one of half, and small ones.

small=$((mib < 64 ? mib : 64))
room_kib=$(df -Pk /dev/shm 2>/dev/null | awk 'NR == 2 { print $4 }')
if ((${room_kib:-0} > (mib * 9 / 2 + small * 2) * 1127)); then
  folder=$(mktemp -d /dev/shm/ndjson-check.XXXXXX)
else
  folder=$(mktemp -d)
  echo "no room for the corpora in /dev/shm: they are in $folder, and the disk may be measured, too" >&2
fi
if [[ $keep ]]; then
  trap 'echo "kept: $folder" >&2' EXIT
else
  trap 'rm -rf "$folder"' EXIT
fi
echo "writing the corpora to $folder ..." >&2
"$built/examples/corpus" "$folder" "$mib"
"$built/examples/corpus" "$folder/small" "$small" deltas tools
cp benches/texts.schema.json benches/demands.toml "$folder"
fixtures=$PWD/fixtures/agents
ln -s "$binary" "$folder/check"
cd "$folder"
find sessions -name '*.ndjson' -print0 >sessions.list

# --- How it is measured.

# in_turn ROUNDS RUNS COMMAND...: runs the commands in turn (A B A B ...), so that a machine that
# slows down affects all of them. Sets `medians` to their seconds. The first round is not counted.
in_turn() {
  local rounds=$1 runs=$2 round
  shift 2
  for ((round = 0; round <= rounds; round++)); do
    hyperfine --shell=none --style=none --runs "$runs" --export-json "times.$round" "$@" \
      >/dev/null 2>errors || failed "$@"
  done
  rm times.0
  mapfile -t medians < <(
    jq -rs '[.[].results] | transpose[] | map(.times[]) | sort | .[length / 2 | floor]' times.*
  )
  rm times.*
}

failed() {
  cat errors >&2
  printf 'one of these failed or found a defect:\n' >&2
  printf '  %s\n' "$@" >&2
  exit 1
}

# peak COMMAND...: its largest resident memory, in MiB.
peak() {
  "$time" -f %M -o kib "$@" >/dev/null
  awk '{ print $1 / 1024 }' kib
}

# row WHAT MEASURED UNIT SIGN GOAL [FIGURES]
row() {
  awk -v what="$1" -v measured="$2" -v unit="$3" -v sign="$4" -v goal="$5" -v figures="${6-}" '
    BEGIN {
      met = sign == "≤" ? measured <= goal : measured >= goal
      printf "| %-58s | %8.2f %s | %s %s %s | %-6s | %s |\n",
        what, measured, unit, sign, goal, unit, met ? "met" : "missed", figures
    }'
}

# at_most WHAT GOAL OURS THEIRS: our time is at most so many times theirs.
at_most() { row "$1" "$(ratio "$3" "$4")" × ≤ "$2" "$(seconds "$3" "$4")"; }

# at_least WHAT GOAL OURS THEIRS: we are at least so many times faster.
at_least() { row "$1" "$(ratio "$4" "$3")" × ≥ "$2" "$(seconds "$3" "$4")"; }

ratio() { awk -v a="$1" -v b="$2" 'BEGIN { print a / b }'; }
seconds() { awk -v a="$1" -v b="$2" 'BEGIN { printf "%.4f s, %.4f s", a, b }'; }

# --- The table.

cpu=$(awk -F ': *' '/^model name/ { print $2; exit }' /proc/cpuinfo)
echo "${cpu:-$(uname -m)}, $(nproc) cores, $(uname -sr);" \
  "$(hyperfine --version), $(jq --version), $(wc --version | head -1)"
echo "corpora of $mib MiB in $(df -P . | awk 'NR == 2 { print $1 }')"
echo
echo "| what | measured | goal | | medians: ours, the other's |"
echo "|---|---|---|---|---|"

# Used as several words.
one="./check --quiet --jobs 1"
rounds=9

# one_stream NAME AGAINST-WC TIMES-REFERENCE TIMES-JQ
one_stream() {
  local file=$1.ndjson reference="$one --engine reference" schema="--schema texts.schema.json"
  in_turn $rounds 1 "$one $file" "wc -l $file" "$reference $file"
  local fast=${medians[0]} wc=${medians[1]} tree=${medians[2]}
  at_most "$1: time against wc -l" "$2" "$fast" "$wc"
  at_least "$1: faster than the reference engine" "$3" "$fast" "$tree"
  in_turn $rounds 1 "$one $schema $file" "$reference $schema $file"
  at_least "$1: the same with a schema that reads every text" 1.5 "${medians[@]}"
  in_turn $rounds 1 "$one --config demands.toml $file" "$one --no-config $file"
  at_most "$1: with limits and expectations" 1.05 "${medians[@]}"
  in_turn $rounds 1 "$one small/$file" "jq -e .type small/$file"
  at_least "$1, one of $small MiB: faster than jq -e .type" "$4" "${medians[@]}"
  in_turn $rounds 1 "sh -c 'cat $file | $one'" "sh -c 'cat $file | wc -l'"
  at_most "$1, cat FILE into a pipe: time against wc -l" 0.8 "${medians[@]}"
  row "$1, lines up to 2.6 MiB: peak memory" "$(peak $one "$file")" MiB ≤ 18.9
}

many_streams() {
  local files
  files=$(tr -cd '\0' <sessions.list | wc -c)
  in_turn $rounds 1 "$one sessions" "wc -l --files0-from=sessions.list"
  at_most "$files files: time against wc -l" 2 "${medians[@]}"
  in_turn $rounds 1 "./check --quiet --jobs 2 sessions" "$one sessions"
  at_least "$files files: two threads, faster than one" 1.8 "${medians[@]}"
}

one_line() {
  local long="$one --max-line-bytes 1GiB" mib peak
  mib=$(stat -c %s huge.ndjson | awk '{ print $1 / 1048576 }')
  in_turn $rounds 1 "$long huge.ndjson" "$long --engine reference huge.ndjson"
  at_most "a line of ${mib%.*} MiB: time against the reference engine" 0.5 "${medians[@]}"
  peak=$(peak $long huge.ndjson)
  row "a line of ${mib%.*} MiB: peak memory against its size" "$(ratio "$peak" "$mib")" × ≤ 1.5 \
    "${peak%.*} MiB"
}

# One short stream of each agent: the largest of its fixtures that conforms, and whose run succeeded.
start_to_end() {
  local agent file slowest=0 name=
  in_turn 10 20 "$one tiny.ndjson" "jq . tiny.ndjson"
  at_most "3 KB from start to end: time against jq ." 0.5 "${medians[@]}"
  for agent in "$fixtures"/*/; do
    # Streams of `jsonl` are checked only with `--profile jsonl`.
    [[ $agent != */jsonl/ ]] || continue
    file=$(short_stream "$agent") || { echo "no short stream in $agent" >&2 && exit 1; }
    in_turn 5 10 "$one $file"
    if awk -v a="${medians[0]}" -v b="$slowest" 'BEGIN { exit !(a > b) }'; then
      slowest=${medians[0]} name=$(basename "$agent")
    fi
  done
  row "a short stream, start to end: the slowest agent ($name)" "$(ratio "$slowest" 0.001)" ms ≤ 4.5
}

short_stream() {
  local file
  # The largest first.
  # shellcheck disable=SC2045
  for file in $(ls -S "$1"*.ndjson); do
    if [[ ! -e ${file%.ndjson}.args ]] && $one "$file" >/dev/null 2>&1; then
      echo "$file" && return
    fi
  done
  return 1
}

another_shape() {
  in_turn $rounds 1 "$one --profile claude claude.ndjson" "$one deltas.ndjson"
  at_most "claude: time against deltas" 1.5 "${medians[@]}"
}

one_stream deltas 3.5 10 25
one_stream tools 4.5 3.5 12
many_streams
one_line
start_to_end
another_shape
