#!/usr/bin/env bash
# Large texts: shards, rows with fields, and jobs that are killed and gone on with. Usage: corpus_test.sh FUSELAGE DATA MODULE

# shellcheck source=tests/tools/support.sh
source "$(dirname "${BASH_SOURCE[0]}")/support.sh"
RANDOM=7
fast=("${usual[@]}" -b 1 --cpu-threads 2)

# Less of all on an emulated processor, but more than is read at once.
copies=100 wanted_kills=20
[[ $slowness -eq 1 ]] || copies=40 wanted_kills=5

# A text with lines of its own, and the same as TSV and as JSON lines.
for i in $(seq $copies); do awk -v i="$i" '{print $0, i}' "$input"; done >text
awk '{printf "%d\t%s\tx\n", NR, $0}' text >text.tsv
awk '{gsub(/["\\]/, "\\\\&"); printf "{\"id\": %d, \"text\": \"%s\", \"x\": 1.50}\n", NR, $0}' text >text.jsonl
begin=${EPOCHREALTIME//[.,]/}
works translate "${fast[@]}" -i text -o expected
whole=$((${EPOCHREALTIME//[.,]/} - begin)) # microseconds
awk 'NR == FNR {line[FNR] = $0; next} {printf "%s\t%s\n", $0, line[FNR]}' expected text.tsv >expected.tsv
awk 'NR == FNR {gsub(/["\\]/, "\\\\&"); line[FNR] = $0; next} {sub(/}$/, ""); printf "%s,\"translation\":\"%s\"}\n", $0, line[FNR]}' \
  expected text.jsonl >expected.jsonl

# Columns and fields.
works translate "${fast[@]}" --tsv 2 -i text.tsv
same out expected.tsv "a column"
works translate "${fast[@]}" --jsonl text -i text.jsonl
same out expected.jsonl "a field"
printf 'id\ttext\r\n1\t▁Tom\r\n' >header.tsv
works translate "${fast[@]}" --tsv text --added-field de header.tsv header.tsv
printf 'id\ttext\tde\r\n' >header.expected
for _ in 1 2; do printf '1\t▁Tom\t%s\r\n' "$("$fuselage" translate "${fast[@]}" --quiet <<<'▁Tom')"; done >>header.expected
same out header.expected "columns with a name"
printf '{"a": "▁Tom\\n\\n ▁Tom\\r\\n", "b": {"a": 1, "t": 2}}\n{"a":null}\n' >lines.jsonl
works translate "${fast[@]}" --jsonl a --added-field t -i lines.jsonl
tom=$("$fuselage" translate "${fast[@]}" --quiet <<<'▁Tom')
printf '{"a": "▁Tom\\n\\n ▁Tom\\r\\n", "b": {"a": 1, "t": 2},"t":"%s\\n\\n%s\\r\\n"}\n{"a":null,"t":null}\n' "$tom" "$tom" >lines.expected
same out lines.expected "a field of several lines"
works translate "${fast[@]}" --jsonl a --text -i lines.jsonl

# Rows that cannot be read are errors with their file and line, or stay as they are.
bad() {
  local message=$1 row=$2
  shift 2
  { cat "$@" && printf '%b\n' "$row"; } >bad.rows
  local place
  place="bad.rows, line $(wc -l <bad.rows): "
  refuses "$place$message" translate "${fast[@]}" "${kind[@]}" bad.rows
  works translate "${fast[@]}" "${kind[@]}" bad.rows --keep-bad-rows
  [[ $(tail -n 1 out | od -c) == "$(tail -n 1 bad.rows | od -c)" ]] || fail "a bad row is kept: $(tail -n 1 out)"
  grep -qF '1 row could not be read and is as it was' err || fail "no note on a bad row: $(cat err)"
}
kind=(--tsv 3)
bad 'the line has 2 columns, but column 3 is to be translated' 'a\tb' /dev/null
kind=(--jsonl a)
bad 'the line is no valid JSON at byte ' '{"a": "b"' lines.jsonl
bad 'the line is no valid JSON at byte 10' '{"a":"x"}\0rest' /dev/null
bad 'the line is no valid JSON at byte ' '{"a":"\xff"}' /dev/null
bad 'the line is a list, but an object is needed' '[1]' /dev/null
bad "the object has no field 'a'" '{"b":{"a":"x"}}' /dev/null
bad "the object has 'a' twice" '{"a":"x","a":"y"}' /dev/null
bad "the field 'a' is a number, but a text is translated" '{"a":1}' /dev/null
bad "the object has a field 'translation' already" '{"a":"x","translation":1}' /dev/null
refuses "the header has no column 'de', but 'id', 'text'; give" translate "${fast[@]}" --tsv de header.tsv
# marian-decoder's --tsv has no value: a prefix is behind a tab.
paste text <(sed 's/ .*//' expected) >prefixes
works translate "${fast[@]}" --force-decode -i prefixes -o guided
works translate "${fast[@]}" --tsv --force-decode --tsv-fields 2 -i prefixes
same out guided "--tsv before another option"
works translate "${fast[@]}" --force-decode -i prefixes --tsv
same out guided "--tsv at the end"
printf 'tsv: true\ntsv-fields: 2\nforce-decode: true\n' >marian.yml
works translate "${fast[@]}" -c marian.yml -i prefixes
same out guided "tsv in a configuration"
works score "${usual[@]}" -c marian.yml -t one one
printf 'tsv: 2\n' >column.yml
works translate "${fast[@]}" -c column.yml -i text.tsv
same out expected.tsv "a column in a configuration"
printf 'tsv: true\n' >marian.yml
refuses "--tsv needs the column to translate" translate "${fast[@]}" -c marian.yml -i prefixes
refuses "--tsv needs the column to translate" translate "${fast[@]}" -i prefixes --tsv
refuses "--tsv has the column 'prefixes'" translate "${fast[@]}" --force-decode --tsv prefixes
refuses "there is a column 'id' already" translate "${fast[@]}" --tsv text --added-field id header.tsv
refuses "numbered from 1" translate "${fast[@]}" --tsv 0 header.tsv
refuses "--n-best is for lines" translate "${fast[@]}" --tsv 1 --n-best header.tsv
refuses "add --tsv or --jsonl" translate "${fast[@]}" --keep-bad-rows -i text
gzip -c text | head -c 3000 >cut.gz
refuses "cut.gz is cut off: its gzip data end in the middle, at byte 3000" translate "${fast[@]}" cut.gz --resume -o cut.out

# The shards together are the whole.
for ((i = 1; i <= 7; ++i)); do works translate "${fast[@]}" -i text --shard $i/7 -o shard.$i; done
cat shard.? | wc -l >lines
paste -d'\n' shard.? | head -n "$(cat lines)" >together
same together expected "shards"
drawn=("${fast[@]}" --output-sampling --n-best)
works translate "${drawn[@]}" -i "$input" -o expected.drawn
for ((i = 1; i <= 3; ++i)); do works translate "${drawn[@]}" -i "$input" --shard $i/3 -o drawn.$i; done
sort -n -s drawn.? >together
same together expected.drawn "samples of shards"
for shard in 0/3 4/3 1 /3 1/ 1/0 x/3 1/3x 1/1000001; do
  refuses "a shard is i/n" translate "${fast[@]}" -i text --shard "$shard"
done

# killed PATH EXPECTED ARGUMENTS…: a job that is killed many times gives what one run gives.
rows() { sed 's/.*"rows":\([0-9]*\).*/\1/' "$1.journal"; }
killed() {
  local path=$1 expected=$2 kills=0 resumed=0
  shift 2
  while [[ $kills -lt $wanted_kills ]]; do
    "$fuselage" translate "${fast[@]}" "$@" --resume --checkpoint-seconds 0.01 --quiet 2>err &
    local job=$!
    sleep "$(awk -v whole="$whole" -v thousandth=$((RANDOM % 900)) 'BEGIN {print whole * thousandth / 1e9}')"
    kill -9 $job 2>/dev/null && kills=$((kills + 1))
    wait $job 2>/dev/null
    local status=$?
    [[ $status -eq 137 || $status -eq 0 ]] || fail "$path: exit status $status: $(cat err)"
    if [[ -e $path ]]; then # it was complete before the last kill
      same_text "$path" "$expected"
      rm -rf "$path" "$path".* folder
    elif grep -q '"rows":[1-9]' "$path.journal" folder/*.journal 2>/dev/null; then
      resumed=$((resumed + 1))
    fi
  done
  [[ $resumed -gt $((wanted_kills / 6)) ]] || fail "$path: only $resumed of its starts had something to go on with"
  # What was written behind the last checkpoint does not count.
  [[ ! -e $path.journal || ! -e $path.part ]] || echo "half a line" >>"$path.part"
  works translate "${fast[@]}" "$@" --resume
  same_text "$path" "$expected"
  works translate "${fast[@]}" "$@" --resume
  same_text "$path" "$expected"
  [[ ! -e $path.part ]] || fail "$path.part is left"
}
same_text() {
  case $1 in
    *.gz) zcat "$1" >text.out || fail "$1 is no valid gzip" ;;
    *.zst) zstd -dcq "$1" >text.out || fail "$1 is no valid zstd" ;;
    *) cp "$1" text.out ;;
  esac
  same text.out "$2" "$1 after kills"
}
killed job.txt expected -i text -o job.txt
gzip -k text.tsv
killed job.tsv.gz expected.tsv --tsv 2 text.tsv.gz -o job.tsv.gz
split -n l/3 text.jsonl part.
if command -v zstd >/dev/null; then
  killed job.jsonl.zst expected.jsonl --jsonl text part.?? -o job.jsonl.zst
fi
tail -n "$(wc -l <part.ac)" expected.jsonl >expected.ac
killed folder/part.ac expected.ac --jsonl text part.?? --output-folder folder
cat folder/part.a? >together
same together expected.jsonl "a folder"
for i in 1 2; do works translate "${fast[@]}" --jsonl text part.?? --output-folder halves --shard $i/2; done
for part in part.aa part.ab part.ac; do same halves/$part folder/$part "shards of files"; done

# A full disk: what is there is gone on with.
(ulimit -f 40 && "$fuselage" translate "${fast[@]}" -i text --resume --checkpoint-seconds 0.01 -o full 2>&1) | cat >err
grep -q '^fuselage: cannot write full.part: .*; its first [1-9][0-9]* rows are kept' err || fail "a full disk: $(cat err)"
[[ ! -e full && $(rows full) -gt 0 ]] || fail "a full disk: rows $(rows full)"
works translate "${fast[@]}" -i text --resume -o full
same full expected "after a full disk"

# What is not the same job is not gone on with, and nothing is overwritten.
(ulimit -f 40 && "$fuselage" translate "${fast[@]}" -i text --resume --checkpoint-seconds 0.01 -o other >/dev/null 2>&1)
cp other.part kept.part
cp other.journal kept.journal
go_on=(translate "${fast[@]}" --resume -o other)
refuses "--normalize was not given at its first start, but now it is '0.5'" "${go_on[@]}" -i text -n 0.5
refuses "the size of input 1 was '$(wc -c <text) bytes' at its first start, but now it is '" "${go_on[@]}" -i text.tsv
refuses "the number of inputs was '1' at its first start, but now it is '2'" "${go_on[@]}" -i text text
mkdir changed
{ cat "$vocabulary" && echo '# changed'; } >changed/vocab.yml
refuses "file 2 of model and options was 'vocab.yml with the hash " \
  translate -m "$model" -v changed/vocab.yml changed/vocab.yml -b 1 --resume -o other -i text
tr o u <text >changed.text
refuses "is not the text that it was when its translation began: the hash of its first" "${go_on[@]}" -i changed.text
works "${go_on[@]}" -i text
same other expected "a job after others that are not the same"
rm other
mv kept.part other.part
mv kept.journal other.journal
truncate -s 10 other.part
refuses "other.part has 10 bytes, but " "${go_on[@]}" -i text
echo '{"format":1}' >other.journal
refuses "other cannot go on: it has no 'format' that fits (other.journal)" "${go_on[@]}" -i text
rm other.*
echo mine >other
refuses "other is there, but other.journal" "${go_on[@]}" -i text
[[ $(cat other) == mine ]] || fail "a file is overwritten"
works translate "${fast[@]}" --output-folder once "$input"
refuses "was begun before" translate "${fast[@]}" --output-folder once "$input"
refuses "give one with -o" translate "${fast[@]}" --resume -i text
refuses "would both be translated to" translate "${fast[@]}" --output-folder once text ./text
refuses "standard input has no name" translate "${fast[@]}" --output-folder once -

# A signal keeps what is translated, and one process at a time writes a file.
mkfifo pipe
"$fuselage" translate "${fast[@]}" -i pipe --resume -o signalled 2>signalled.err &
job=$!
exec 3>pipe
head -n 8 text >&3
for _ in $(seq 100); do [[ -e signalled.journal ]] && break || sleep 0.1; done
mkfifo other.pipe
refuses "is being written by another process" translate "${fast[@]}" -i other.pipe --resume -o signalled
sleep 1
kill -TERM $job
wait $job
[[ $? -eq 143 ]] || fail "a signal: exit status $?"
exec 3>&-
[[ $(rows signalled) -eq 8 ]] || fail "a signal: $(cat signalled.journal)"
"$fuselage" translate "${fast[@]}" -i pipe --resume -o signalled 2>err &
cat text >pipe
wait $! || fail "after a signal: $(cat err)"
same signalled expected "after a signal"

# Progress and cost, where they are asked for.
works translate "${fast[@]}" -i text --progress-seconds 0.1 --price-per-hour 2 -o /dev/null
grep -qE '^fuselage: [0-9]+ lines, [0-9]+ words/s, [0-9]+ %, [0-9]+:[0-9]+ left, [0-9.e-]+ for a million words$' err ||
  fail "progress: $(cat err)"
grep -qE "^fuselage: $(wc -l <text) lines in [0-9.]+ s, .* for a million words\$" err || fail "summary: $(cat err)"
end
