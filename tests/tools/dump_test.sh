#!/usr/bin/env bash
# Dumps, and graphs that are texts. Usage: dump_test.sh FUSELAGE DATA MODULE

# shellcheck source=tests/tools/support.sh
source "$(dirname "${BASH_SOURCE[0]}")/support.sh"
make_directory

# Dumps.
works dump "$model"
for program in load source step; do
  grep -qx "# program $program" out || fail "the dump lacks the program $program"
done
works dump directory --program step --passes none --format dot
grep -q '^digraph' out || fail "no Graphviz source"
works dump directory --program whole --passes none --model-only
sed 's/  # [a-z]*$//' out >dumped
same dumped directory/graph.ir "dump of a model directory"
refuses "there is no pass 'foo'" dump "$model" --passes foo
works dump directory --stage raw --model-only
sed '/^#/d;s/  # [a-z]*$//' out >dumped
same dumped directory/graph.ir "dump of the stage raw"
works dump directory --program step --output-sampling nucleus 0.5
grep -qE '= uniform\(.*# uniform$' out || fail "no random numbers: $(grep uniform out)"
grep -qE '= sample\(.*top_p = 0.5.*# sample$' out || fail "no sample: $(grep sample out)"
works dump directory --program step --device cuda --output-sampling topk 5
grep -qE '= sample\(.*top_k = 5.*# sample$' out || fail "no sample of the best: $(grep sample out)"
grep -qE '= linear_k_best\(.*k = 5' out || fail "no fused output layer: $(grep k_best out)"
refuses "leave --output-sampling out" dump "$model" --profile one --output-sampling
works dump directory --stage commute-rows
grep -qx '# stage commute_rows.*' out || fail "no stage"
works dump directory --only-changed
grep -qx '# stage raw' out || fail "no raw stage"
grep -q '# pass .*: no change' out && fail "a pass that changed nothing is shown"
works dump directory --diff raw commute_rows
head -n 1 out | grep -q '^# diff raw commute_rows.*: [0-9]* nodes added' || fail "no diff"
works dump directory --explain 'embeddings@*' --explain 'attention@*'
grep -q '^embeddings fired in commute_rows' out || fail "nothing explains embeddings"
grep -q '^attention ' out || fail "nothing explains attention"
works dump directory --time-passes
grep -qE "^ +[0-9.]+  simplify\.2, " out || grep -qE "^ +[0-9.]+  simplify\.2" out || fail "no time of a pass"
works dump directory --summary
grep -qE '^step +kernels +[0-9]+ +[0-9]+' out || fail "no summary"
works dump directory --format json --summary
works dump "$model" --profile one -v "$vocabulary" "$vocabulary" -b 2 --program step
grep -q ' % .* ms in ' out || fail "no times"
works dump directory --exact --explain 'attention@*'
grep -q 'not allowed' out || fail "--exact allows attention"
if command -v dot >/dev/null; then
  works dump directory --program step --format svg
  grep -q '<svg' out || fail "no picture"
  refuses "svg shows one" dump directory --stage '.*' --format svg
else
  echo "SKIPPED: pictures, which need graphviz" >&2
fi
PATH=/nonexistent "$fuselage" dump directory --format svg >out 2>err && fail "a picture without graphviz"
grep -q 'package graphviz' err || fail "the message on graphviz: $(cat err)"
echo before >picture.svg
PATH=/nonexistent "$fuselage" dump directory --format svg -o picture.svg 2>err && fail "a picture without graphviz"
[[ $(<picture.svg) == before ]] || fail "an error emptied the output"
refuses "there is no stage 'simplifi'; did you mean 'simplify" dump directory --stage simplifi
refuses "exclude each other" dump directory --summary --stage raw
refuses "--diff compares two stages, not 1" dump directory --diff raw
refuses "did you mean 'embeddings'?" dump directory --explain 'embedings@*'
refuses "no stage has a node 'foo'" dump directory --explain embeddings@foo
refuses "write RULE@NODE" dump directory --explain embeddings
refuses "cannot open nope.txt" dump directory --profile nope.txt
refuses "one is input and output at once" dump directory --profile one -o one
refuses "has no line to translate" dump "$model" --profile /dev/null -v "$vocabulary" "$vocabulary"

# A dump is a test case: passes run on a text, on all of it or on a program.
works dump directory --stage raw -o raw.ir
works dump raw.ir --passes none -o none.ir
works dump raw.ir --passes all,-attention,-fold-constants
grep -q '^# pass fold_constants' out && fail "a pass that is left out runs"
grep -q '^# pass commute_rows.* attention ' out && fail "a rule that is left out runs"
works dump raw.ir --passes simplify --stage simplify
mv out printed.ir
works dump printed.ir --passes none
works dump directory --program step --passes none -o step.ir
works dump step.ir
refuses "did you mean 'merge_states'?" dump raw.ir --passes all,-merge-state
refuses "write 'all,-embeddings'" dump raw.ir --passes simplify,-embeddings
refuses "cannot open nope.ir" dump nope.ir
refuses "is input and output at once" dump raw.ir -o raw.ir
cp one one.ir
refuses "one.ir:1" dump one.ir
refuses "is a graph without weights; --profile needs a model" dump raw.ir --profile one
refuses "is a graph without weights; --frequency needs a model" dump raw.ir --frequency one
works dump raw.ir --summary
grep -qE '^step +kernels +[0-9]+ +[0-9]+' out || fail "no summary of a text"
works dump raw.ir --format json
grep -q '"launched": false' out || fail "no views in the JSON of a text"
works dump raw.ir --format html
grep -q '<svg id="canvas"' out || fail "no page of a text"
works dump raw.ir --format dot
grep -q '^digraph' out || fail "no Graphviz source of a text"

# Provenance, views, and units.
works dump directory --program step
grep -q ' by ' out || fail "the text has no provenance"
grep -qE 'slice.*  # view$' out || fail "a slice that is read in place is no view"
works dump directory --no-provenance
grep -qE '^%.* from .* by ' out && fail "--no-provenance leaves provenance"
works dump directory --summary
grep -qE '^step +bytes +[0-9.]+ [kMG]?B +[0-9.]+ [kMG]?B' out || fail "bytes without a unit"

# Two dumps beside each other.
works dump directory --summary --against --passes none
grep -q '^# against: directory (--passes none)$' out || fail "the comparison does not name its sides"
grep -q '^only this: fused ' out || fail "the comparison lacks a fusion of one side"
grep -q '^only against: ' out && fail "no passes fused something"
works dump directory --format json --against "$model" -b 2
grep -q '"kind": "comparison"' out || fail "no comparison in JSON"
works dump raw.ir --format html --against directory --precision int8
grep -c 'srcdoc=' out | grep -qx 2 || fail "the page has not two sides"
refuses "--against goes with --summary" dump directory --against --passes none
refuses "--against goes with --summary" dump directory --format json --diff raw planned --against --exact
works dump directory -b 6 --summary --against -b 1
grep -q '^# this: beam 6, .* against: 1, ' out || fail "a comparison hides that the beams differ"
works dump directory --stage commute-rows --program step
grep -q '  # view$' out || fail "a view of an earlier stage is not marked"
refuses "give a model or an option" dump directory --summary --against
refuses "--format is for both sides" dump directory --summary --against --format json
refuses "unknown option '--precisions'" dump directory --summary --against --precisions int8

# Libraries that register, before graphs and models are read.
libraries=$(dirname "$module")
cat >extension.ir <<'IR'
fuselage.graph 1
domain sentence = sentence
domain source = source of sentence
%x = import() {name = "x", domain = source, dims = [4]}
%a = hard_sigmoid(%x) {slope = 0.5}
%y = tanh(%a)
return y = %y
IR
refuses "extension.ir:5" dump extension.ir
works dump extension.ir --extension "$libraries/libhard_sigmoid_extension.so" --passes fuse_pointwise
grep -qF 'tanh(hard_sigmoid(x0) {slope = 0.5})' out || fail "an op of an extension is not fused"
works dump directory --summary --extension "$libraries/libhard_sigmoid_extension.so"
works translate "${usual[@]}" --extension "$libraries/libhard_sigmoid_extension.so" -i one
refuses "the extension nope.so cannot be loaded" dump directory --extension nope.so
refuses "two ops are called 'add'" dump extension.ir --extension "$libraries/libfailing_extension.so"

end
