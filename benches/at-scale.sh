#!/usr/bin/env bash
# Runs the blocks of docs/at-scale.md over an archive, and fails if two recipes differ.
set -euo pipefail
export LC_ALL=C
cd "$(dirname "$0")/.."
page=$PWD/docs/at-scale.md
writer=$PWD/benches/archive.py

usage() {
  cat >&2 <<'USAGE'
usage: benches/at-scale.sh [OPTION]...

  --recordings N     recordings in the archive [default: 20000]
  --recipes "NAMES"  of xargs, parallel, spark, arrow and duckdb [default: those whose tools are there]
  --binary FILE      the ndjson-check to run [default: the one on the PATH]
  --python FILE      a Python that has pyspark, pyarrow, ndjson-check and duckdb [default: python3]
  --keep             keep the archive and the reports
USAGE
  exit 2
}

recordings=20000
recipes=
binary=ndjson-check
python=python3
keep=
while (($#)); do
  case $1 in
    --keep) keep=yes ;;
    --recordings | --recipes | --binary | --python)
      (($# > 1)) || usage
      printf -v "${1#--}" %s "$2"
      shift
      ;;
    *) usage ;;
  esac
  shift
done
[[ $recordings =~ ^[1-9][0-9]{0,6}$ ]] || usage
((recordings >= 4)) || usage # The fourth one is cut.
for name in $recipes; do
  [[ $name =~ ^(xargs|parallel|spark|arrow|duckdb)$ ]] || usage
done

# --- The tools.

binary=$(type -P "$binary") || { echo "there is no ndjson-check: use --binary FILE" >&2 && exit 2; }
python=$(type -P "$python") || { echo "there is no Python: use --python FILE" >&2 && exit 2; }

# The program that starts Spark, of the Python that has pyspark. All processes are then its children,
# and their CPU seconds are counted.
submit=$("$python" -c 'import pyspark; print(pyspark.__path__[0])' 2>/dev/null)/bin/spark-submit || :
export PYSPARK_PYTHON=$python

# version NAME: of the tool that the recipe needs; fails if it is absent.
version() {
  case $1 in
    xargs) xargs --version | head -1 ;;
    parallel) parallel --version | head -1 ;;
    spark) java -version 2>&1 | head -1 && "$python" -c \
      'import pyspark; print("pyspark", pyspark.__version__)' ;;
    arrow) java -version 2>&1 | head -1 && "$python" -c \
      'import ndjson_check, pyarrow, pyspark; print("pyspark", pyspark.__version__, "and the wheel")' ;;
    duckdb) "$python" -c 'import duckdb; print("duckdb", duckdb.__version__)' ;;
  esac 2>/dev/null
}

source_of() {
  case $1 in
    xargs) echo "apt install findutils" ;;
    parallel) echo "apt install parallel" ;;
    spark) echo "a Java that Spark supports, and pip install pyspark" ;;
    arrow) echo "a Java that Spark supports, and pip install pyspark pyarrow ndjson-check" ;;
    duckdb) echo "pip install duckdb" ;;
  esac
}

absent=
run=
for name in ${recipes:-xargs parallel spark arrow duckdb}; do
  if found=$(version "$name"); then
    echo "$name: ${found//$'\n'/, }"
    run+=" $name"
  else
    echo "$name: NOT RUN, its tool is absent: $(source_of "$name")"
    absent+=" $name"
  fi
done
# What was asked for by its name must run.
[[ -z $recipes || -z $absent ]] || exit 2

# --- The folder, with a file for each block of the page.

failed() {
  echo "FAILED: $*" >&2
  exit 1
}

folder=$(mktemp -d)
if [[ $keep ]]; then
  trap 'echo "kept: $folder" >&2' EXIT
else
  trap 'rm -rf "$folder"' EXIT
fi
mkdir "$folder/bin" "$folder/blocks" "$folder/work"
ln -s "$(realpath -- "$binary")" "$folder/bin/ndjson-check"
export PATH=$folder/bin:$PATH
blocks=$folder/blocks
for name in list one shards xargs parallel spark spark-merge arrow streams money versions; do
  # The line before a block has its name behind the language.
  awk -v name="$name" '
    /^```/ { on = $2 == name; found += on; next }
    on
    END { exit found != 1 }
  ' "$page" >"$blocks/$name" || failed "the page has not exactly one block $name"
done
cd "$folder/work"

# --- How a recipe is run.

shell() { bash -eo pipefail "$blocks/$1"; }

# The answers to the queries of the page, as tables of text, for the comparison.
answers='
for name in ("money", "versions"):
    with open(f"{blocks}/{name}") as query, open(f"{name}.{engine}", "w") as answer:
        header, rows = table(query.read())
        for row in [header, *rows]:
            print(*row, sep=" | ", file=answer)
'

# A recipe of Spark, and the queries in the same process.
in_spark() {
  {
    cat "$blocks/$1"
    echo "blocks, engine = '$blocks', '$1'"
    echo 'def table(query):'
    echo '    answer = spark.sql(query)'
    echo '    return answer.columns, answer.collect()'
    echo "$answers"
  } >"$1.py"
  "$submit" "$1.py"
}
spark() { in_spark spark && shell spark-merge; }
arrow() { in_spark arrow; }

duckdb() {
  {
    echo 'import duckdb'
    echo "blocks, engine = '$blocks', 'duckdb'"
    echo 'duckdb.execute(open(f"{blocks}/streams").read())'
    echo 'def table(query):'
    echo '    answer = duckdb.execute(query)'
    echo '    return [it[0] for it in answer.description], answer.fetchall()'
    echo "$answers"
  } >duckdb-answers.py
  "$python" duckdb-answers.py
}

# row NAME EXPECTED COMMAND...: runs the command and prints a row with its times. Its exit code must be
# the expected one.
row() {
  local name=$1 expected=$2 code=0 TIMEFORMAT='%R %U %S'
  shift 2
  { time "$@" 2>"$name.errors"; } 2>"$name.time" || code=$?
  awk -v name="$name" -v n="$recordings" -v code="$code" '{
    printf "| %-8s | %7.1f | %9.0f | %11.1f | %9d |\n", name, $1, n / $1, $2 + $3, code
  }' "$name.time"
  ((code == expected)) && return
  tail -40 "$name.errors" >&2
  failed "$name: exit code $code instead of $expected"
}

same() { cmp -- "$1" "$2" >&2 || failed "$1 and $2 differ"; }

# --- The recipes.

echo "writing $recordings recordings to $folder ..." >&2
"$python" "$writer" archive "$recordings"
shell list
[[ $(tr -cd '\0' <recordings | wc -c) == "$recordings" ]] || failed "the list is not complete"
shell shards
# No recipe has to wait for the disk, and the first one not more than the others.
xargs -0 cat <recordings >/dev/null

cpu=$(awk -F ': *' '/^model name/ { print $2; exit }' /proc/cpuinfo)
echo "${cpu:-$(uname -m)}, $(nproc) cores; $(ndjson-check --version)"
echo
echo "| recipe   | seconds | streams/s | CPU seconds | exit code |"
echo "|---|---|---|---|---|"
# One recording is cut. Its exit code, 2, must come through every recipe.
row one 2 shell one
for name in $run; do
  case $name in
    duckdb | arrow) row "$name" 0 "$name" ;;
    spark) row spark 2 spark ;;
    *) row "$name" 2 shell "$name" ;;
  esac
  [[ $name =~ ^(duckdb|arrow)$ ]] || same one.ndjson "$name.ndjson"
done

# --- What else the page promises.

cut=$(find archive -name '0000003.ndjson.gz')
if [[ -d xargs ]]; then
  grep -qF "$cut" xargs.log || failed "xargs.log does not name the recording that is cut"
  rm xargs/0000
  code=0
  tail -1 "$blocks/xargs" | bash >lost.ndjson 2>lost.errors || code=$?
  # The recording that is cut is in another shard, so 2 alone proves nothing.
  if ((code != 2)) || ! grep -qF xargs/0000 lost.errors; then
    failed "a missing report was not noticed"
  fi
fi
if [[ -d parallel ]]; then
  shards=$(awk 'NR > 1 && $7 == 2' parallel.log | wc -l)
  ((shards == 1)) || failed "parallel.log shows $shards shards with exit code 2 instead of 1"
fi

for name in money versions; do
  answered=()
  for engine in duckdb spark arrow; do
    [[ ! -e $name.$engine ]] || answered+=("$name.$engine")
  done
  for answer in "${answered[@]}"; do same "${answered[0]}" "$answer"; done
  for answer in "${answered[@]}"; do
    [[ -e $answer ]] || continue
    echo && sed 's/.*/| & |/; 1 { p; s/[^|]\+/---/g }' "$answer" && break
  done
done
echo
reports=${run/ duckdb/}
echo "the same report and exit code by each recipe: one${reports/ arrow/}"
[[ -z $absent ]] || echo "NOT RUN:$absent"
