#!/usr/bin/env bash
# Directories of published files, as a user gives them to the command.
# shellcheck source=tests/tools/support.sh
source "$(dirname "${BASH_SOURCE[0]}")/support.sh"

spm=$data/vocab.spm
echo one >codes.bad
printf 'Tom is my friend.\nI know.\n' >text

works translate -m "$model" -v "$spm" "$spm" -b 1 --max-length-factor 2 -i text
mv out expected

# Files of Firefox, with a configuration that has keys without effect.
mkdir firefox
gzip -c "$model" >firefox/model.ende.npz.gz
gzip -c "$spm" >firefox/vocab.ende.spm.gz
cat >firefox/config.yml <<'YAML'
models: [model.ende.npz]
vocabs: [vocab.ende.spm, vocab.ende.spm]
bergamot-mode: native
beam-size: 1
normalize: 1.0
max-length-break: 128
mini-batch-words: 1024
max-length-factor: 2.0
skip-cost: true
workspace: 128
quiet: true
cache-size: 20000
ssplit-mode: sentence
gemm-precision: float32
alignment: soft
YAML
works translate -m firefox -i text
same out expected "a directory of Firefox"
[[ ! -s err ]] || fail "notes on a directory of Firefox: $(cat err)"
rm firefox/config.yml
mkdir several
cp "$model" several/model.npz
cp "$spm" "$data/vocab.yml" several
refuses "several brings no vocabularies" translate -m several -i text
grep -q "do not tell source and target apart, so none is used: 'vocab.spm', 'vocab.yml'" err ||
  fail "no note on two vocabularies: $(cat err)"
works translate -m firefox -b 1 --max-length-factor 2 -i text
same out expected "a directory without a configuration"
works convert -m firefox -o converted
works translate -m converted -b 1 --max-length-factor 2 -i text
same out expected "a converted directory"

# The command reads the same keys, and has an option for the one with a meaning.
printf 'relative-paths: true\nmodels: [model.npz]\nvocabs: [v.spm, v.spm]\nmax-length-break: 128\n%s\n' \
  'int8shiftAlphaAll: true' >bergamot.yml
cp "$model" model.npz
cp "$spm" v.spm
works translate -c bergamot.yml -i text
grep -q 'model.npz has no multipliers of calibration' err || fail "no note on calibration: $(cat err)"
works translate -c bergamot.yml --gemm-precision int8 -i text
grep -q 'calibration' err && fail "a note on calibration that is not used"
works score -c bergamot.yml -t text text
refuses "is needed, not 'int7'" translate -m firefox --gemm-precision int7

# Files of OPUS-MT: the text is split by SentencePiece, words have their ids elsewhere.
mkdir opus
cp "$model" opus/opus.npz
cp "$vocabulary" opus/opus.spm32k.vocab.yml
cp "$spm" opus/source.spm
cp "$spm" opus/target.spm
printf 'relative-paths: true\nmodels: [opus.npz]\nvocabs: [%s, %s]\nbeam-size: 1\nnormalize: 1\n' \
  opus.spm32k.vocab.yml opus.spm32k.vocab.yml >opus/decoder.yml
works translate -m opus --max-length-factor 2 -i text
same out expected "a directory of OPUS-MT"
works translate -m opus --max-length-factor 2 --no-spm-encode --no-spm-decode -i "$input"
grep -q '▁' out || fail "--no-spm-decode joins the words of a splitter"
works convert -m opus -o converted-opus
works translate -m converted-opus --max-length-factor 2 -i text
same out expected "a converted directory of OPUS-MT"

# BPE codes: the text of words, split and joined.
printf '#version: 0.2\n' >codes
work_text="Tom knows"
printf '%s\n' "</s>" "<unk>" >words.txt
for ((i = 2; i < 1000; ++i)); do echo "w$i"; done >>words.txt
sed -i -e 's/^w10$/Tom/' -e 's/^w11$/kn@@/' -e 's/^w12$/ows/' -e 's/^w13$/nr17/' words.txt
printf 'T o\nTo m</w>\nk n\no w\now s</w>\n' >>codes
works translate -m "$model" -v words.txt words.txt -b 1 -i <(echo "Tom kn@@ ows nr17")
mv out expected-bpe
works translate -m "$model" -v words.txt words.txt -b 1 --bpe codes --glossary 'nr[0-9]+' \
  --no-spm-decode -i <(echo "$work_text nr17")
same out expected-bpe "--bpe"
sed -e 's/@@ //g' -e 's/@@$//' expected-bpe >joined
works translate -m "$model" -v words.txt words.txt -b 1 --bpe codes --glossary 'nr[0-9]+' \
  -i <(echo "$work_text nr17")
same out joined "--bpe joins subwords"
refuses "there are no codes" translate -m "$model" -v words.txt words.txt --glossary a
refuses "splits text by itself" translate -m "$model" -v "$spm" "$spm" --bpe codes
refuses "codes.bad:1: 1 symbols" translate -m "$model" -v words.txt words.txt --bpe codes.bad
works convert -m "$model" -v words.txt words.txt --bpe codes -o with-codes
works translate -m with-codes -b 1 -i <(echo "$work_text")

# Amun's configuration, with a model of Nematus that has none itself.
amun() {
mkdir amun
python3 - "$data/amun/model.npz" amun/model.npz <<'PYTHON'
import sys, zipfile
with zipfile.ZipFile(sys.argv[1]) as old, zipfile.ZipFile(sys.argv[2], "w") as new:
    for name in old.namelist():
        if not name.startswith("special:"):
            new.writestr(name, old.read(name))
PYTHON
cp "$vocabulary" amun/vocab.yml
cat >amun/config.yml <<'YAML'
relative-paths: yes
beam-size: 6
normalize: yes
devices: [0]
gpu-threads: 1
scorers:
  F0:
    path: model.npz
    type: Nematus
weights:
  F0: 1.0
source-vocab: vocab.yml
target-vocab: vocab.yml
YAML
works translate -m "$data/amun/model.npz" -v "$vocabulary" "$vocabulary" -b 6 -n 1 \
  --max-length-factor 2 -i "$data/amun/input.sp.en"
mv out expected-amun
works translate -m amun -i "$data/amun/input.sp.en"
same out expected-amun "a directory of Amun"
works translate -c amun/config.yml -i "$data/amun/input.sp.en"
same out expected-amun "a configuration of Amun"
sed -i 's/type: Nematus/type: KenLM/' amun/config.yml
refuses "scorer 'F0' is a language model (KenLM)" translate -m amun
rm amun/config.yml
printf '{"dictionaries": ["/train/vocab.yml", "/train/vocab.yml"], "factors": 1}' >amun/model.npz.json
works translate -m amun -b 6 -n 1 --max-length-factor 2 -i "$data/amun/input.sp.en"
same out expected-amun "a directory of Nematus"
printf '{"encoder": "lstm"}' >amun/model.npz.json
refuses "model.npz.json: encoder is" translate -m amun
}
if command -v python3 >/dev/null; then
  amun
else
  echo "SKIPPED: a model of Nematus, which needs python3" >&2
fi

# What models are.
# says TEXT ARGUMENTS…: the report of info holds the text.
says() {
  local text=$1
  shift
  works info "$@"
  grep -qF -- "$text" out || fail "the report of 'info $*' lacks '$text': $(cat out)"
}
for fact in 'format        Marian directory' 'architecture  transformer' '  dim-emb 32' \
  'words         1000 source, 1000 target' 'embeddings    Wemb, 1000 of 32' ' f32 ' \
  'SentencePiece, 1000 words' 'by default    '; do
  says "$fact" firefox
done
says 'format        OPUS-MT directory' opus
says 'splitter      source: opus/source.spm, SentencePiece' opus
says 'decoding      beam-size 1, normalize 1' opus
says 'words (YAML), 1000 words' opus
says 'format        Fuselage model directory' converted-opus
says 'splitter      target' converted-opus
says 'format        Marian .npz' "$model"
says 'format        ensemble of 2 models' "$model" "$model"
says 'words (YAML)' "$model" -v "$vocabulary" "$vocabulary"
says 'BPE codes' with-codes
if command -v python3 >/dev/null; then
  works info opus --format json
  python3 -c '
import json
info = json.load(open("out"))
assert info["format"] == "OPUS-MT directory" and info["architecture"] == "transformer"
assert info["parameters"] == sum(w["numbers"] for w in info["weights"]) == 71464
assert info["options"]["dim-emb"] == 32 and info["decode"]["beam-size"] == 1
assert info["defaults"]["precision"] == "fp32" and info["notes"] == []
assert [v["words"] for v in info["vocabularies"]] == [1000, 1000]
' || fail "info --format json is wrong"
fi
refuses "cannot open model nope" info nope

# A directory's shortlist is used unless the user says otherwise.
printf 'a b 1\n' >firefox/lex.s2t
works translate -m firefox -b 1 --max-length-factor 2 -i text
cmp -s out expected && fail "the shortlist of a directory is not used"
works translate -m firefox -b 1 --max-length-factor 2 --no-shortlist -i text
same out expected "--no-shortlist"
works translate -m firefox -b 1 --max-length-factor 2 --shortlist firefox/lex.s2t 100000 -i text
same out expected "--shortlist in place of a directory's"
rm firefox/lex.s2t

cp "$model" firefox/other.npz
refuses "firefox: the directory has several models, 'model.ende.npz.gz' and 'other.npz'" \
  translate -m firefox -i text
mkdir empty
refuses "empty: this directory holds no model" translate -m empty -i text

end
