# shellcheck shell=bash
# The beginning of the tests that run the command as a user does, in a directory of their own. Their
# arguments: FUSELAGE DATA MODULE, with the folder of test data and a module that stands in for the
# CUDA back-end.

set -u
fuselage=$1
data=$2
module=$3
model=$data/transformer-ssru/model.npz
input=$data/transformer-ssru/input.sp.en
vocabulary=$data/vocab.yml
usual=(-m "$model" -v "$vocabulary" "$vocabulary")
export FUSELAGE_MODELS=/nonexistent
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 1
failures=0

fail() {
  echo "FAILED: $*" >&2
  failures=$((failures + 1))
}

# How many times slower than a processor of today this one is: an emulated one.
slowness=${FUSELAGE_TEST_SLOWNESS:-1}

# refuses MESSAGE ARGUMENTS…: exit status 1, and one line on standard error that holds MESSAGE.
refuses() {
  local message=$1
  shift
  timeout $((60 * slowness)) "$fuselage" "$@" >out 2>err </dev/null
  local status=$?
  [[ $status -eq 1 ]] || fail "exit status $status instead of 1: $*"
  [[ $(wc -l <err) -eq 1 ]] || fail "not one line of message: $* ($(cat err))"
  grep -qF -- "$message" err || fail "the message of '$*' lacks '$message': $(cat err)"
  grep -q '^fuselage: ' err || fail "the message of '$*' does not begin with 'fuselage: '"
}

# works ARGUMENTS…: exit status 0.
works() {
  timeout $((60 * slowness)) "$fuselage" "$@" >out 2>err || fail "exit status $?: $* ($(cat err))"
}

same() { cmp -s "$1" "$2" || fail "$3: $1 and $2 differ"; }

# end: reports the failures, at the end of a test.
end() {
  if [[ $failures -gt 0 ]]; then
    echo "$failures failures" >&2
    exit 1
  fi
  echo "all passed"
}

# make_directory: the model as a model directory, with defaults for decoding.
make_directory() { works convert "${usual[@]}" -b 2 -n 0.6 -o directory; }

# make_configuration: a decoder configuration beside the model and the vocabulary.
make_configuration() {
  mkdir config
  cp "$model" config/model.npz
  cp "$vocabulary" config/vocab.yml
  cat >config/decoder.yml <<'YAML'
relative-paths: true
models:
  - model.npz
vocabs: [vocab.yml, vocab.yml]
beam-size: 2
normalize: 0.6
word_penalty: 0
mini-batch: 8
maxi-batch: 10
maxi-batch-sort: src
fp16: false
quiet-translation: true
YAML
}

# Texts of one line and of two.
printf '▁Tom\n' >one
printf '▁Tom\n▁Tom\n' >two
