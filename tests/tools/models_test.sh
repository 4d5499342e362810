#!/usr/bin/env bash
# Model directories, ensembles and bad files. Usage: models_test.sh FUSELAGE DATA MODULE

# shellcheck source=tests/tools/support.sh
source "$(dirname "${BASH_SOURCE[0]}")/support.sh"
make_configuration

# Model directories.
make_directory
works translate "${usual[@]}" -b 2 -n 0.6 -i "$input" -o expected
works translate -m directory -i "$input"
same out expected "model directory"
# One that was written in November 2026, and what it translated then: the same bytes.
former=$data/directory-2026-11
works translate -m "$former" -b 4 --precision int8 --n-best -i "$former/input.en"
same out "$former/expected.int8.beam4.txt" "a model directory of November 2026"
# Tables of frequent words, and tables that are stored: the same bytes.
gru=(-m "$data/nematus/model.npz" -v "$vocabulary" "$vocabulary")
works translate "${gru[@]}" -b 2 --n-best --exact -i "$input" -o expected.exact
sort -u "$input" | tr ' ' '\n' | sort | uniq -c | awk '{ print $2, $1 }' >frequency
echo 'no_such_word 1' >>frequency
for way in "--precompute-memory 0" "--precompute-memory 0.1" \
  "--precompute-memory 0.1 --frequency frequency"; do
  # shellcheck disable=SC2086
  works translate "${gru[@]}" -b 2 --n-best --exact $way --stats -i "$input"
  same out expected.exact "$way"
  [[ "$way" == *" 0" ]] || grep -qE 'note: table of [0-9]+ of [0-9]+ words for .*: [0-9.]+ % of' err ||
    fail "no hit rate: $(cat err)"
done
grep -q 'note: frequency: 1 of [0-9]* words are not in the model' err || fail "no note on a word"
echo 'word x' >frequency.bad
refuses "frequency.bad:1: 'x' is no count" translate "${gru[@]}" --frequency frequency.bad
works convert "${gru[@]}" --bake-tables --exact --precompute-memory 0.1 --frequency frequency -o baked
works translate -m baked -b 2 --n-best --exact --stats -i "$input"
same out expected.exact "baked tables"
grep -q 'note: table of' err || fail "no hit rate of a baked table: $(cat err)"
works convert "${gru[@]}" --bake-tables -o baked
works translate -m baked -b 2 --n-best -i "$input" -o baked.out
works translate "${gru[@]}" -b 2 --n-best -i "$input"
same out baked.out "baked tables, all passes"
refuses "give --bake-tables too" convert "${gru[@]}" --frequency frequency -o refused
refuses "--half" convert "${gru[@]}" --bake-tables --half -o refused

works convert -m directory --half -o half
works translate -m half -i "$input" -b 1
mkdir again bundled
works convert -m directory -o again/directory
for file in graph.ir weights.safetensors config.json; do
  same directory/$file again/directory/$file "converted twice"
done
mv again/directory bundled/en-de
FUSELAGE_MODELS=$work/bundled works translate -i "$input"
same out expected "bundled model"
cp -r bundled/en-de bundled/fr-en
FUSELAGE_MODELS=$work/bundled works translate --from fr -i "$input"
same out expected "a bundled model by its language"
FUSELAGE_MODELS=$work/bundled refuses "no bundled model from 'de' to 'en'; there are en-de, fr-en" \
  translate --from de --to en
refuses "translates from 'en' to 'de', not from 'en' to 'fr'" translate --to fr -m "$data/../../models/en-de"
for codes in "--from eng_Latn" "--from EN --to de_DE" "--to deu"; do
  # shellcheck disable=SC2086
  FUSELAGE_MODELS=$data/../../models works translate $codes </dev/null
  # shellcheck disable=SC2086
  works translate $codes -m "$data/../../models/en-de" </dev/null
done
FUSELAGE_MODELS=$data/../../models refuses "no bundled model from 'fra_Latn'; there are de-en, en-de" \
  translate --from fra_Latn
# Names of bundled models, where no file or folder is called so.
FUSELAGE_MODELS=$work/bundled works translate -m fr-en -i "$input"
same out expected "a bundled model by its name"
for command in "info fr-en" "dump --summary fr-en" "check fr-en" "convert -m fr-en -o named" "quantize fr-en -o named"; do
  # shellcheck disable=SC2086
  FUSELAGE_MODELS=$work/bundled works $command
  rm -rf named
done
FUSELAGE_MODELS=$work/bundled works info fr-en
grep -qE "^model +$work/bundled/fr-en$" out || fail "info does not say where a bundled model is: $(head -n 1 out)"
mkdir fr-en
FUSELAGE_MODELS=$work/bundled refuses "fr-en" info fr-en
rmdir fr-en
FUSELAGE_MODELS=$work/bundled refuses "cannot open model fr-de" info fr-de
rm -r bundled/fr-en
refuses "there is no bundled model in /nonexistent" translate
refuses "--beam-size" convert "${usual[@]}" -b x -o refused
refuses "--beam-size" convert "${usual[@]}" -b 0 -o refused
refuses "--maxi-batch-sort" convert "${usual[@]}" --maxi-batch-sort foo -o refused
for name in config.json graph.ir weights.safetensors probes.json SHA256SUMS; do
  mkdir -p vocabularies && cp "$vocabulary" vocabularies/$name
  refuses "cannot be called $name" convert -m "$model" -v vocabularies/$name vocabularies/$name -o refused
done
[[ ! -e refused ]] || fail "a refused conversion writes"

# A model directory is checked, and is written as a whole or not at all.
(cd directory && sha256sum --quiet -c SHA256SUMS) || fail "sha256sum does not take SHA256SUMS"
[[ $(wc -l <directory/SHA256SUMS) -eq 5 ]] || fail "SHA256SUMS lists $(wc -l <directory/SHA256SUMS)"
cp -r directory touched
sed -i 's/"beam-size": 2/"beam-size": 3/' touched/config.json
refuses "touched/config.json: its SHA-256 is" translate -m touched -i "$input"
works translate -m touched -i "$input" --no-verify
[[ ! -s err ]] || fail "a note where nothing is to be checked: $(cat err)"
(cd touched && sha256sum config.json graph.ir weights.safetensors vocab.yml probes.json >SHA256SUMS)
works translate -m touched -i "$input"
echo >>touched/vocab.yml
refuses "touched/vocab.yml: its SHA-256 is" translate -m touched -i "$input"
rm touched/SHA256SUMS
works translate -m touched -i "$input"
grep -qxF 'fuselage: note: touched has no SHA256SUMS, so nothing was checked' err ||
  fail "no note on a directory without a list: $(cat err)"
touch touched/README.md
refuses "touched: the directory holds 'README.md', which is no part of its model" \
  convert "${usual[@]}" -o touched
refuses "nope.yml" convert -m "$model" -v nope.yml nope.yml -o new/directory
if (ulimit -f 200 && timeout 60 "$fuselage" convert "${usual[@]}" -o new/directory) 2>err; then
  fail "a directory that is too large for the system is written"
fi
grep -qF 'File too large' err || fail "no reason for a directory that is not written: $(cat err)"
[[ ! -e new ]] || fail "a failed conversion leaves $(find new)"
(ulimit -f 200 && timeout 60 "$fuselage" convert "${usual[@]}" -o directory) 2>err &&
  fail "a directory that is too large for the system is replaced"
works translate -m directory -i "$input"
same out expected "a model directory after a failed conversion"
[[ -z $(find . -name '*.tmp.*') ]] || fail "a failed conversion leaves $(find . -name '*.tmp.*')"

# Ensembles: as options, as a configuration, as one model directory; plain and with stored tables.
members=(-m "$model" "$data/nematus/model.npz" -v "$vocabulary" "$vocabulary")
weighted=("${members[@]}" --weights 0.75 0.5)
works translate "${weighted[@]}" -b 2 --n-best --alignment -i "$input" -o expected.ensemble
works translate "${weighted[@]}" -b 2 --n-best --alignment -i "$input" --cpu-threads 3 --mini-batch 7
same out expected.ensemble "an ensemble in batches"
cp "$data/nematus/model.npz" config/other.npz
cat >config/ensemble.yml <<'YAML'
relative-paths: true
models: [model.npz, other.npz]
weights: [0.75, 0.5]
vocabs: [vocab.yml, vocab.yml]
YAML
works translate -c config/ensemble.yml -b 2 --n-best --alignment -i "$input"
same out expected.ensemble "an ensemble in a configuration"
works convert "${weighted[@]}" -b 2 -o ensemble
works translate -m ensemble --n-best --alignment -i "$input"
same out expected.ensemble "an ensemble as a model directory"
works convert "${weighted[@]}" -b 2 --bake-tables -o baked.ensemble
works translate -m baked.ensemble --n-best --alignment -i "$input"
same out expected.ensemble "an ensemble with stored tables"
works dump ensemble --stage raw --model-only
sed '/^#/d;s/  # [a-z]*$//' out >dumped
same dumped ensemble/graph.ir "dump of an ensemble"
works dump "${weighted[@]}" --program step
grep -q '%1\.' out || fail "the dump lacks the second model"
works translate "${usual[@]}" -b 2 -i "$input" -o alone
works translate -m "$model" "$model" --weights 0.5 0.5 -v "$vocabulary" "$vocabulary" -b 2 -i "$input"
same out alone "a model twice"
works score "${usual[@]}" -t one one -o score.0
works score "${gru[@]}" -t one one -o score.1
works score "${weighted[@]}" -t one one
paste score.0 score.1 out | awk '{ d = 0.75 * $1 + 0.5 * $2 - $3; exit !(d < 1e-4 && d > -1e-4) }' ||
  fail "the score of an ensemble: $(paste score.0 score.1 out)"
works score "${usual[@]}" --weights 2 -t one one
paste score.0 out | awk '{ d = 2 * $1 - $2; exit !(d < 1e-4 && d > -1e-4) }' ||
  fail "the score of a weighted model: $(cat score.0 out)"
refuses "--weights has 1 number, but there are 2 models; give one for each" translate "${members[@]}" --weights 1
refuses "--weights has 2 numbers, but there is 1 model" translate "${usual[@]}" --weights 1 1
refuses "--weights: a number from -1000000 to 1000000 is needed, not 'nan'" translate "${members[@]}" --weights nan 1
refuses "cannot open model nope.npz" translate "${usual[@]}" -m "$model" nope.npz

# changed FILE SED: another model directory, with FILE edited.
changed() {
  rm -rf changed && cp -r directory changed
  sed -i "$2" "changed/$1"
  cmp -s "directory/$1" "changed/$1" && fail "the edit $2 does nothing"
  rm changed/SHA256SUMS
}
changed config.json 's/"right-left": false/"right-left": true/'
refuses "directory works from left to right, but changed from right to left" translate -m directory changed -i one
changed vocab.yml '1i # changed'
refuses "directory/vocab.yml and changed/vocab.yml, vocabularies of directory and changed, differ" \
  translate -m directory changed -i one
works translate -m directory changed -v "$vocabulary" "$vocabulary" -i one
changed config.json 's/"beam-size": 2/"beam-size": 3/'
for command in "translate -i one" "convert -o refused"; do
  # shellcheck disable=SC2086
  refuses "directory has 2 for --beam-size, but changed has 3; give --beam-size" $command -m directory changed
done
works translate -m directory changed -b 3 -i one
works score -m directory changed -t one one
works convert -m directory changed -b 4 -o ensemble.4
grep -q '"beam-size": 4' ensemble.4/config.json || fail "the beam of a converted ensemble"

# Bad files.
head -c 100000 "$model" >truncated.npz
refuses "truncated.npz" translate -m truncated.npz -v "$vocabulary" "$vocabulary"
{ printf 'XX' && tail -c +3 "$model"; } >magic.npz
head -c 1000 /dev/zero >zeros.npz
refuses "zeros.npz" translate -m zeros.npz -v "$vocabulary" "$vocabulary"
refuses "cannot open model nope.npz: No such file" translate -m nope.npz
cp "$model" model.bin
refuses "not a Marian .bin file" translate -m model.bin
refuses "cannot open nope.yml" translate -m "$model" -v nope.yml nope.yml
refuses "$model brings no vocabularies; give them with -v SOURCE TARGET" translate -m "$model"
grep -v '</s>' "$vocabulary" | sed 's/: 1$/: 0/;s/<unk>/x/' >no-end.yml
refuses "no-end.yml" translate -m "$model" -v no-end.yml no-end.yml
refuses "cannot open nope.txt: No such file" translate "${usual[@]}" -i nope.txt
refuses "it is a directory" translate "${usual[@]}" -i config

# damaged FILE SED MESSAGE: a model directory with FILE edited is refused.
damaged() {
  rm -rf damaged && cp -r directory damaged
  sed -i "$2" "damaged/$1"
  cmp -s "directory/$1" "damaged/$1" && fail "the edit $2 does nothing"
  rm damaged/SHA256SUMS
  refuses "$3" translate -m damaged -i one
}
damaged graph.ir 's/{name = "Wemb"/{name = "Wemc"/' "weight 'Wemc', a parameter of damaged/graph.ir, is missing; did you mean 'Wemb'"
damaged graph.ir 's/{name = "Wemb"/{name = "Wemb\x1b"/' "weight 'Wemb\\x1b', a parameter"
damaged graph.ir '0,/: f32\[32\]/s//: f32[33]/' "graph.ir"
damaged config.json 's/right-left/rigth-left/' "unknown key 'rigth-left'; did you mean 'right-left'?"
damaged config.json 's/"fuselage-model": 1/"fuselage-model": 9/' "version '9'"
rm -rf damaged && cp -r directory damaged && rm damaged/weights.safetensors
refuses "cannot open damaged/weights.safetensors" translate -m damaged -i one
cp directory/weights.safetensors damaged/ && truncate -s -100 damaged/weights.safetensors
refuses "damaged/weights.safetensors: its SHA-256 is" translate -m damaged -i one
refuses "damaged/weights.safetensors" translate -m damaged -i one --no-verify

# edit_npz PYTHON: a model with its members, a dictionary d of bytes by name, changed.
edit_npz() {
  python3 - "$model" edited.npz "$1" <<'PYTHON'
import struct, sys, zipfile
with zipfile.ZipFile(sys.argv[1]) as z:
    d = {n: z.read(n) for n in z.namelist()}
def yaml(old, new):
    member = d["special:model.yml.npy"]
    size = 10 + struct.unpack("<H", member[8:10])[0]
    text = member[size:].split(b"\0")[0]
    assert old in text or not old
    text = text.replace(old, new) if old else text + new
    text += b"\0"
    header = "{'descr': '|i1', 'fortran_order': False, 'shape': (%d,), }" % len(text)
    header = header.ljust(117) + "\n"
    d["special:model.yml.npy"] = b"\x93NUMPY\1\0" + struct.pack("<H", len(header)) + header.encode() + text
exec(sys.argv[3])
with zipfile.ZipFile(sys.argv[2], "w") as z:
    for n, b in d.items():
        z.writestr(n, b)
PYTHON
}
if command -v python3 >/dev/null; then
  edited=(translate -m edited.npz -v "$vocabulary" "$vocabulary" -i one)
  edit_npz 'yaml(b"", b"\ntransformer-hedas: 4\n")'
  refuses "transformer-hedas" "${edited[@]}"
  works "${edited[@]}" --ignore-unknown-config
  edit_npz 'd["extra.npy"] = d["Wemb.npy"]'
  refuses "extra" "${edited[@]}"
  edit_npz 'del d["Wemb.npy"]'
  refuses "'Wemb' is missing" "${edited[@]}"
  edit_npz 'yaml(b"type: transformer", b"type: bert")'
  refuses "type 'bert' is not supported: it classifies texts" "${edited[@]}"
  edit_npz 'b = d["Wemb.npy"]; d["Wemb.npy"] = b"XXXXXX" + b[6:]'
  refuses "Wemb" "${edited[@]}"
else
  echo "SKIPPED: edited .npz files, which need python3" >&2
fi

# A lexical table from parallel text, in both forms, for a shortlist.
head -n 40 "$data/transformer-ssru/input.sp.en" >lines.en
head -n 40 "$data/transformer-ssru/ref.sp.de" >lines.de
words=(-m "$model" -v "$vocabulary" "$vocabulary")
works lexicon lines.en lines.de "${words[@]}" -o lex.s2t
awk 'NF != 3 || $3 <= 0 || $3 > 1' lex.s2t | grep -q . && fail "lines of a lexical table: $(head -n 3 lex.s2t)"
works lexicon lines.en lines.de "${words[@]}" -o lex.s2t.bin --first 50 --best 50
works translate "${usual[@]}" -i one --shortlist lex.s2t 50 50
mv out by_text
works translate "${usual[@]}" -i one --shortlist lex.s2t.bin
same out by_text "a translation by the binary form of a shortlist"
for list in "lex.s2t 50 50" lex.s2t.bin; do
  # shellcheck disable=SC2086
  works convert "${usual[@]}" --shortlist $list -o listed
  works translate -m listed -i one
  same out by_text "a translation by the shortlist of a model directory"
done
grep -q lex.s2t.bin listed/SHA256SUMS || fail "a shortlist without a digest: $(cat listed/SHA256SUMS)"
works quantize listed -o listed.8 --quiet
cmp -s listed/lex.s2t.bin listed.8/lex.s2t.bin || fail "a quantized model has lost its shortlist"
works convert -m listed --no-shortlist -o without
[[ ! -e without/lex.s2t.bin ]] || fail "convert --no-shortlist kept the shortlist"
printf 'la a\n' >lex.bad
refuses "lex.bad" convert "${usual[@]}" --shortlist lex.bad -o refused
works lexicon "${words[@]}" lines.en lines.de -o after.s2t
same after.s2t lex.s2t "a lexical table of texts that follow the options"
head -n 3 lines.de >short.de
refuses "short.de ends after 3 lines, lines.en does not" lexicon lines.en short.de "${words[@]}"
refuses "is input and output at once" lexicon lines.en lines.de "${words[@]}" -o lines.en
refuses "have no pair of sentences" lexicon /dev/null /dev/null "${words[@]}"

end
