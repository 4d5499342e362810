#!/usr/bin/env bash
# Cached weights, and limits of memory. Usage: weights_cache_test.sh FUSELAGE DATA MODULE

# shellcheck source=tests/tools/support.sh
source "$(dirname "${BASH_SOURCE[0]}")/support.sh"
works translate "${usual[@]}" -i "$input" -b 2 --n-best --word-scores -o expected

# Cached weights are those that are made, and a damaged cache is no hindrance.
for run in first second; do
  works translate "${usual[@]}" -i "$input" -b 2 --n-best --word-scores --weights-cache cache
  same out expected "$run run with a cache"
  [[ ! -s err ]] || fail "$run run with a cache: $(cat err)"
done
works translate "${usual[@]}" -i "$input" -b 2 --memory --cpu-threads 2 --weights-cache cache
grep -qE 'note: memory: [0-9.]+ MB of packed matrices, .*; mapped from cache/' err &&
  grep -qE 'memory: [0-9.]+ MB for the values of 2 workers' err &&
  grep -qE 'the process has [1-9][0-9.]* MB' err || fail "--memory: $(cat err)"
works translate "${usual[@]}" -i "$input" -b 2 --memory --quiet
[[ ! -s err ]] || fail "--memory --quiet prints: $(cat err)"
cached=(translate "${usual[@]}" -i "$input" -b 2 --n-best --word-scores --weights-cache cache)
# noted MESSAGE WHAT: the same translations, and one note that holds MESSAGE.
noted() {
  works "${cached[@]}"
  same out expected "$2"
  [[ $(wc -l <err) -eq 1 ]] && grep -qF "note: $1" err || fail "the note on $2: $(cat err)"
}
file=$(echo cache/*.weights)
size=$(stat -c %s "$file")
truncate -s 5000 "$file"
noted "cached weights are made anew: $file: 904 bytes follow its header" "a truncated file"
truncate -s 4096 "$file"
truncate -s "$size" "$file"
noted "cached weights are made anew: $file: the checksum of its content" "zeros in a file"
works "${cached[@]}"
[[ ! -s err ]] || fail "a cache that was made anew: $(cat err)"
chmod 666 "$file"
noted "weights are not cached: $file: other users may write it (its mode is 0666)" "a file of all"
mv "$file" elsewhere
ln -s ../elsewhere "$file"
noted "weights are not cached: $file: it is a symbolic link" "a symbolic link"
rm "$file"
mkfifo "$file"
noted "weights are not cached: $file: it is no regular file" "a pipe"
rm "$file"
(
  ulimit -f 100
  exec "$fuselage" "${cached[@]}" >out 2>err
)
same out expected "a cache without room"
grep -qF "note: weights are not cached: cannot write $file: File too large" err ||
  fail "the note on a cache without room: $(cat err)"
[[ -z $(ls cache) ]] || fail "a cache without room keeps $(ls cache)"
for run in 1 2 3; do "$fuselage" "${cached[@]}" -o "out.$run" 2>"err.$run" & done
wait
for run in 1 2 3; do
  same "out.$run" expected "processes that cache at once"
  [[ ! -s err.$run ]] || fail "processes that cache at once: $(cat "err.$run")"
done
[[ $(ls cache) == "${file#cache/}" ]] || fail "processes that cache at once leave $(ls cache)"
works translate "${usual[@]}" -i "$input" -b 2 --n-best --word-scores --weights-cache "$input"
same out expected "no place for a cache"
grep -qF 'note: weights are not cached: ' err || fail "no note on a cache that cannot be"

# A small stack is an error instead of a crash; the least one is enough, and so is any.
for stack in 64 128 1023; do
  (
    ulimit -s "$stack"
    failures=0
    refuses "the stack is limited to $stack KiB, but 1024 KiB are needed" \
      translate "${usual[@]}" -i "$input"
    exit "$failures"
  ) || fail "a stack of $stack KiB"
done
for stack in 1024 unlimited; do
  (
    ulimit -s "$stack"
    exec "$fuselage" translate "${usual[@]}" -i "$input" -b 2 --n-best --word-scores >out 2>err
  ) || fail "a stack of $stack KiB: $(cat err)"
  same out expected "a stack of $stack KiB"
done

end
