#!/usr/bin/env bash
# Inputs and outputs: pipes, compressed texts, and files that cannot be read or written. Usage: files_test.sh FUSELAGE DATA MODULE

# shellcheck source=tests/tools/support.sh
source "$(dirname "${BASH_SOURCE[0]}")/support.sh"
make_directory
make_configuration
works dump directory --stage raw -o raw.ir

# Outputs that cannot be written.
refuses "cannot write /nonexistent/out: No such file" translate "${usual[@]}" -i one -o /nonexistent/out
refuses "cannot make the directory" convert "${usual[@]}" -o /dev/null/x
refuses "is input and output at once" translate "${usual[@]}" -i two -o two
cp "$model" kept.npz
cp "$vocabulary" kept.yml
keeps=(translate -m kept.npz -v kept.yml kept.yml -i one)
for file in kept.npz kept.yml; do
  refuses "is input and output at once" "${keeps[@]}" -o $file
done
refuses "is input and output at once" dump kept.npz -o kept.npz
refuses "is input and output at once" translate "${usual[@]}" -m "$model" kept.npz -i one -o kept.npz
refuses "is input and output at once" translate -m directory -i one -o directory/weights.safetensors
refuses "is input and output at once" translate -c config/decoder.yml -i one -o config/decoder.yml
same kept.npz "$model" "output over the model"
same kept.yml "$vocabulary" "output over the vocabulary"
cp two kept.txt
timeout 60 "$fuselage" translate "${usual[@]}" -o kept.txt <kept.txt 2>err
[[ $? -eq 1 ]] || fail "output over standard input"
grep -qF 'is input and output at once' err || fail "output over standard input: $(cat err)"
same kept.txt two "output over standard input"
(ulimit -f 0 && "$fuselage" translate "${usual[@]}" -i two -o limited 2>&1) | cat >err
grep -q '^fuselage: cannot write limited: ' err || fail "a limit on the size of files: $(cat err)"

# Messages that cannot be written do not matter.
timeout 60 "$fuselage" translate -i nofile 2>&-
[[ $? -eq 1 ]] || fail "an error with standard error closed: exit status $?"
printf '\n' | timeout 60 "$fuselage" translate "${usual[@]}" >out 2>&- ||
  fail "a note with standard error closed: exit status $?"
[[ $(wc -l <out) -eq 1 ]] || fail "a note with standard error closed: $(cat out)"
if [[ -e /dev/full ]]; then
  timeout 60 "$fuselage" translate -i nofile 2>/dev/full
  [[ $? -eq 1 ]] || fail "an error with standard error full"
  printf '\n' | timeout 60 "$fuselage" translate "${usual[@]}" >out 2>/dev/full ||
    fail "a note with standard error full: exit status $?"
  refuses "cannot write /dev/full: No space left" translate "${usual[@]}" -i two -o /dev/full
  timeout 60 "$fuselage" translate "${usual[@]}" -i two >/dev/full 2>err
  [[ $? -eq 1 ]] || fail "a full disk goes unnoticed"
  timeout 60 "$fuselage" dump "$model" >/dev/full 2>err
  [[ $? -eq 1 ]] || fail "a full disk goes unnoticed by dump"
fi
timeout 60 "$fuselage" translate "${usual[@]}" -i two >&- 2>err
[[ $? -eq 1 ]] || fail "a closed output goes unnoticed"

# A reader that goes away ends the command in silence, as SIGPIPE does, also while more input may
# come, and whatever the command.
(yes '▁Tom' | timeout 60 "$fuselage" translate "${usual[@]}" --cpu-threads 2 2>err
  echo "${PIPESTATUS[1]}" >status) | head -n 1 >/dev/null
[[ $(cat status) -eq 141 ]] || fail "closed pipe: exit status $(cat status)"
[[ ! -s err ]] || fail "closed pipe: $(cat err)"
rm status
({
  echo '▁Tom'
  sleep 1
  echo '▁Tom'
  sleep 20
} | timeout 10 "$fuselage" translate "${usual[@]}" 2>err
  echo "${PIPESTATUS[1]}" >status) | true
[[ $(cat status) -eq 141 ]] || fail "closed pipe while the input waits: exit status $(cat status)"
[[ ! -s err ]] || fail "closed pipe while the input waits: $(cat err)"
for command in "dump $model" "--help" "translate --help" "dump raw.ir"; do
  # shellcheck disable=SC2086
  (until [[ -e gone ]]; do sleep 0.1; done
    timeout 60 "$fuselage" $command 2>err
    echo $? >status) | touch gone
  for _ in $(seq 600); do [[ -s status ]] && break || sleep 0.1; done
  [[ $(cat status) -eq 141 ]] || fail "closed pipe of $command: exit status $(cat status)"
  [[ ! -s err ]] || fail "closed pipe of $command: $(cat err)"
  rm -f gone status
done

# Input and output: several texts, pipes, compressed texts, and outputs that are inputs.

works translate "${usual[@]}" -i "$input" -b 2 --n-best --word-scores -o expected.1
lines=$(wc -l <"$input")
head -n 15 "$input" >first
tail -n +16 "$input" | head -c -1 >second # its last line has no end
: >empty
works translate first "${usual[@]}" -b 2 --n-best --word-scores
head -n "$(grep -c '^\([0-9]\|1[0-4]\) ' expected.1)" expected.1 >expected.first
same out expected.first "a text without -i"
works translate first empty second "${usual[@]}" -b 2 --n-best --word-scores
same out expected.1 "three texts"
works translate -i first second "${usual[@]}" -b 2 --n-best --word-scores
same out expected.1 "two texts with -i"
works translate first - "${usual[@]}" -b 2 --n-best --word-scores <second
same out expected.1 "a text and standard input"
works translate second first "${usual[@]}"
[[ $(wc -l <out) -eq $lines ]] || fail "a text whose last line has no end, and another"
printf '▁Tom\n\n' >notes.1
printf '\n' >notes.2
works translate notes.1 notes.2 "${usual[@]}"
grep -qF '2 lines were empty (lines 2, 3)' err || fail "lines of two texts: $(cat err)"
refuses "cannot open nope.txt: No such file" translate first nope.txt "${usual[@]}" -o untouched
refuses "cannot read config: it is a directory" translate first config "${usual[@]}" -o untouched
[[ ! -e untouched ]] || fail "an output though an input is missing"
refuses "standard input cannot be both texts" score "${usual[@]}" -t - stdin

# No line waits for others: each comes out before the next is written, and before the file ends.
mkfifo pipe.to pipe.from
for ways in "" "--cpu-threads 3" "--mini-batch 64 --maxi-batch 100" "--mini-batch-words 1000"; do
  # shellcheck disable=SC2086
  "$fuselage" translate pipe.to "${usual[@]}" $ways >pipe.from &
  exec 4<pipe.from 3>pipe.to
  for _ in 1 2 3; do
    echo '▁Tom' >&3
    read -r -t 30 answer <&4 || fail "no answer while the input is open: $ways"
  done
  # A line and the beginning of another.
  printf '▁Tom\n▁T' >&3
  read -r -t 30 answer <&4 || fail "a line waits for the end of the next: $ways"
  exec 3>&-
  read -r -t 30 answer <&4 || fail "no answer to a line without an end: $ways"
  wait $! || fail "translating line by line: $ways"
  exec 4<&-
done

# compressed_with SUFFIX: texts in and out by name, whole, of several parts, cut off and damaged.
compressed_with() {
  local suffix=$1
  works translate "${usual[@]}" -i "$input" -b 2 --n-best --word-scores -o "out.$suffix"
  works translate "${usual[@]}" -i first -o "first.$suffix"
  [[ ! -s out ]] || fail "a compressed output: $(cat out)"
  # What is compressed is a text to translate as well, which shows that it can be expanded.
  works translate expected.1 "${usual[@]}" --max-length 5 -o of.text
  works translate "out.$suffix" "${usual[@]}" --max-length 5 -o of.compressed
  same of.compressed of.text "expanding $suffix"
  cat "first.$suffix" "first.$suffix" >"twice.$suffix"
  works translate "${usual[@]}" -i "twice.$suffix"
  [[ $(wc -l <out) -eq 30 ]] || fail "two parts of $suffix gave $(wc -l <out) lines"
  size=$(wc -c <"twice.$suffix")
  head -c $((size - 3)) "twice.$suffix" >"cut.$suffix"
  refuses "cut.$suffix is cut off" translate -i "cut.$suffix" "${usual[@]}" -o cut.out
  [[ $(wc -l <cut.out) -ge 15 ]] || fail "lines before the cut are lost: $(wc -l <cut.out)"
  refuses "cut.$suffix is cut off" translate -i "cut.$suffix" "${usual[@]}" -o "cut.out.$suffix"
  refuses "cut.out.$suffix is cut off" translate -i "cut.out.$suffix" "${usual[@]}" -o again.out
  [[ $(wc -l <again.out) -eq $(wc -l <cut.out) ]] || fail "a compressed output after an error"
  : >"cut.$suffix"
  refuses "cut.$suffix is cut off" translate -i "cut.$suffix" "${usual[@]}"
  { cat "first.$suffix" && echo 'no more of it'; } >"damaged.$suffix"
  refuses "damaged.$suffix is damaged: its" translate -i "damaged.$suffix" "${usual[@]}" -o cut.out
  [[ $(wc -l <cut.out) -eq 15 ]] || fail "lines before the damage are lost: $(wc -l <cut.out)"
  refuses "is damaged" translate -i "damaged.$suffix" "${usual[@]}"
  { head -c $((size / 4)) "twice.$suffix" && echo 'something else' &&
    tail -c $((size / 4)) "twice.$suffix"; } >"damaged.$suffix"
  refuses "damaged.$suffix is damaged: its" translate -i "damaged.$suffix" "${usual[@]}"
  cp first "text.$suffix"
  refuses "at byte" translate -i "text.$suffix" "${usual[@]}"
  refuses "is input and output at once" translate -i "first.$suffix" "${usual[@]}" -o "first.$suffix"
}
compressed_with gz
compressed_with zst
# A zstd frame: a window of 2 MiB, a block of 4 bytes, and one of the reserved type.
printf '\x28\xb5\x2f\xfd\x00\x58\x20\0\0one\n\xff\xff\xff' >damaged.zst
refuses "damaged.zst is damaged" translate -i damaged.zst "${usual[@]}" -o cut.out
[[ $(wc -l <cut.out) -eq 1 ]] || fail "the block before a damaged header is lost"
gzip -dc out.gz >out.expanded || fail "gzip cannot expand what was compressed"
same out.expanded expected.1 "compressed with gzip"
gzip -c <"$input" >input.gz
works translate input.gz "${usual[@]}" -b 2 --n-best --word-scores
same out expected.1 "expanded from gzip"
if [[ -e /dev/full ]]; then
  ln -s /dev/full full.gz
  refuses "cannot write full.gz: No space left" translate "${usual[@]}" -i two -o full.gz
fi

# A signal that ends the process ends a compressed output too, behind the last line that is done.
# interrupted SIGNAL OUTPUT ARGUMENTS…: runs a command on a text of 15 lines that does not end, until it has
# done them, and gives it the signal.
mkfifo endless
interrupted() {
  local signal=$1 output=$2 seconds status
  shift 2
  for seconds in 1 4 16 64; do
    set -m # else commands in the background ignore SIGINT
    "$fuselage" "$@" -o "$output" <endless 2>err &
    set +m
    exec 5>endless
    cat first >&5
    sleep "$seconds"
    kill -s "$signal" $!
    wait $!
    status=$?
    exec 5>&-
    [[ $status -eq $((128 + $(kill -l "$signal"))) ]] || fail "$signal: exit status $status of $1: $(cat err)"
    works translate -i "$output" "${usual[@]}" --max-length 5
    [[ $(wc -l <out) -lt 15 ]] || break
  done
  [[ $(wc -l <out) -eq 15 ]] || fail "$signal: $1 wrote $(wc -l <out) lines instead of 15 to $output"
}
for signal in INT TERM HUP; do
  interrupted $signal "signal.$signal.gz" translate "${usual[@]}" --cpu-threads 2
  gzip -t "signal.$signal.gz" || fail "gzip refuses what $signal ended"
  gzip -dc "signal.$signal.gz" >signal.expanded
  works translate first "${usual[@]}"
  same signal.expanded out "lines before $signal"
done
interrupted TERM signal.zst translate "${usual[@]}"
interrupted TERM signal.gz score "${usual[@]}" -t - first
(trap '' HUP && exec "$fuselage" translate "${usual[@]}" -o ignored.gz <endless) &
exec 5>endless
cat first >&5
sleep 1
kill -s HUP $!
exec 5>&-
wait $! || fail "a signal that is ignored ends the command"
[[ $(gzip -dc ignored.gz | wc -l) -eq 15 ]] || fail "lines at a signal that is ignored"

# An output that is an input, by whatever name, is refused and left as it is.
cp two kept.txt
ln kept.txt link.txt
for command in "translate -i kept.txt" "translate two kept.txt" "translate" "translate two -" \
  "score -t two kept.txt" "score -t kept.txt two"; do
  # shellcheck disable=SC2086
  timeout 60 "$fuselage" $command "${usual[@]}" <kept.txt >>link.txt 2>err
  [[ $? -eq 1 ]] || fail "$command >> its input"
  grep -qF 'standard output is input and output at once' err || fail "$command >> its input: $(cat err)"
  # shellcheck disable=SC2086
  timeout 60 "$fuselage" $command "${usual[@]}" -o link.txt <kept.txt >out 2>&1
  grep -qF 'link.txt is input and output at once' out || fail "$command -o its input: $(cat out)"
  same kept.txt two "$command"
done
timeout 60 "$fuselage" dump raw.ir >>raw.ir 2>err && fail "dump >> its input"
timeout 60 "$fuselage" dump kept.npz >>kept.npz 2>err && fail "dump >> its input"
same kept.npz "$model" "dump >> its input"
works translate -i two "${usual[@]}" -o kept.out
cp kept.out kept.once
works translate -i two "${usual[@]}" -o kept.out
same kept.out kept.once "an output that was there"

end
