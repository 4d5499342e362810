#!/usr/bin/env bash
# Configurations as Marian and other programs write them, and side files. Usage:
# configurations_test.sh FUSELAGE DATA MODULE

# shellcheck source=tests/tools/support.sh
source "$(dirname "${BASH_SOURCE[0]}")/support.sh"

# All options of marian-decoder are taken or not needed.
printf 'models: [%s]\nvocabs: [%s, %s]\n' "$model" "$vocabulary" "$vocabulary" >base.yml
cat base.yml "$data/full-decoder-config.yml" >full.yml
works translate "${usual[@]}" -b 12 -i "$input" -o expected
works translate -c full.yml -i "$input"
same out expected "a full configuration"
[[ ! -s err ]] || grep -qv note err || fail "notes on a full configuration: $(cat err)"
works translate -c full.yml -m full.yml -i one
works score -c full.yml -t one one

# Options without a counterpart are passed over, whatever their values; unknown ones are refused.
cat base.yml - >server.yml <<'YAML'
port: 8081
devices: [0, 1]
optimize: yes
ignore-model-config: true
dim-emb: 7
YAML
works translate -c server.yml -i one
for key in port devices optimize ignore-model-config; do
  grep -q "^fuselage: note: server.yml: marian-decoder's '$key' is not supported here and passed over" err ||
    fail "no note on $key: $(cat err)"
done
grep -q "'devices'.*: name GPUs with device cuda:0,cuda:1" err || fail "no advice on devices"
grep -q dim-emb err && fail "a note on what a model decides"
refuses "marian-decoder's --dim-emb is not supported here: the configuration in a model decides" translate --dim-emb 7

# Truths of YAML 1.1.
for line in 'allow-unk: False' 'quiet: yes' 'n-best: off' 'n-best: NO' 'relative-paths: No' 'skip-cost: n' \
  'shortlist-union: Off' 'output-sampling: no' 'alignment: false'; do
  (cat base.yml; echo "$line") >truth.yml
  works translate -c truth.yml -b 12 -i "$input"
  same out expected "$line"
done
works translate "${usual[@]}" -b 2 --n-best --word-scores -n -i one -o n-best
(cat base.yml; printf 'n-best: True\nword-scores: on\nnormalize: YES\nbeam-size: 2\n') >truth.yml
works translate -c truth.yml -i one
same out n-best "options that are on"
works translate -m truth.yml --n-best --word-scores -i one
same out n-best "a model's own settings"
(cat base.yml; echo 'quiet: tRue') >truth.yml
refuses "truth.yml: --quiet is true or false, not 'tRue'" translate -c truth.yml

# Paths relative to the configuration.
mkdir folder
cp "$model" folder/model.npz
cp "$vocabulary" folder/vocab.yml
head -n 2 "$input" >folder/in.txt
printf '▁Tom\n.\n' >folder/frequent.txt
printf '▁Tom\t▁Tom\n' >folder/terms.tsv
cat >folder/c.yml <<'YAML'
relative-paths: yes
models: [model.npz]
vocabs: [vocab.yml, vocab.yml]
input: [in.txt]
output: out.txt
terminology: terms.tsv
frequency: frequent.txt
weights-cache: cache
beam-size: 2
YAML
works translate "${usual[@]}" -b 2 --terminology folder/terms.tsv -i folder/in.txt -o expected
works translate -c folder/c.yml
[[ ! -s out ]] || fail "the translation is on standard output"
same folder/out.txt expected "relative paths"
[[ -d folder/cache && ! -e cache ]] || fail "the cache is not beside the configuration"
works translate -c folder/c.yml -i folder/in.txt -o here.txt
same here.txt expected "the command line's paths are relative to the current folder"
sed -i 's/^input.*/input: [stdin]/; s/^output.*/output: stdout/' folder/c.yml
works translate -c folder/c.yml <folder/in.txt
same out expected "standard input and output"
sed -i 's/^input.*/input: "-"/; s/^output.*/output: "-"/' folder/c.yml
works translate -c folder/c.yml <folder/in.txt
same out expected "- is standard input and output"
printf 'relative-paths: true\nmodels: [model.npz]\nvocabs: [vocab.yml, vocab.yml]\ntrain-sets: [in.txt, in.txt]\n' >folder/s.yml
works score "${usual[@]}" -t folder/in.txt folder/in.txt -o expected
works score -c folder/s.yml
same out expected "relative train-sets"
cp "$data/nematus/model.npz" folder/nematus.npz
printf 'x\ty\n' >folder/words.tsv
printf 'relative-paths: true\nmodels: [nematus.npz]\nvocabs: [vocab.yml, vocab.yml]\nreplace-unknowns: words.tsv\n' >folder/r.yml
works translate -c folder/r.yml -b 2 -i one
sed -i 's/words.tsv/no-words.tsv/' folder/r.yml
refuses "cannot open folder/no-words.tsv" translate -c folder/r.yml -b 2 -i one
sed -i 's/no-words.tsv/true/' folder/r.yml
works translate -c folder/r.yml -b 2 -i one

# Texts with a byte order mark, also where files follow each other and where one has nothing else.
works translate "${usual[@]}" -b 2 -i two -o expected
(printf '\357\273\277'; cat one) >marked
printf '\357\273\277' >only-mark
works translate "${usual[@]}" -b 2 -i marked only-mark marked
same out expected "texts with byte order marks"
(printf '\357'; sleep 0.2; printf '\273\277'; cat two) | "$fuselage" translate "${usual[@]}" -b 2 >out 2>err
same out expected "a byte order mark in parts"
printf '\357' >part
works translate "${usual[@]}" -b 2 -i part
works score "${usual[@]}" -t two two -o expected
(printf '\357\273\277'; cat two) >marked
works score "${usual[@]}" -t marked marked
same out expected "scored texts with byte order marks"

# Terms in other Unicode forms, as the vocabulary normalizes them.
pieces=(-m "$model" -v "$data/vocab.spm" "$data/vocab.spm" -b 4)
printf 'my friend\t.\n' >terms.tsv
printf 'Tom is my friend\n' >usual.txt
printf 'Tom is my\302\240friend\n' >no-break.txt
printf 'Tom is \357\275\215y friend\n' >wide.txt
works translate "${pieces[@]}" --terminology terms.tsv -i usual.txt -o expected
works translate "${pieces[@]}" -i usual.txt
cmp -s out expected && fail "the term changes nothing"
for text in no-break wide; do
  works translate "${pieces[@]}" --terminology terms.tsv -i $text.txt
  same out expected "a term in $text.txt"
done
end
