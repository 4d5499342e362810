#!/usr/bin/env bash
# Options and configuration files. Usage: options_test.sh FUSELAGE DATA MODULE

# shellcheck source=tests/tools/support.sh
source "$(dirname "${BASH_SOURCE[0]}")/support.sh"
works translate "${usual[@]}" -b 2 -n 0.6 -i "$input" -o expected

# Configuration files.
make_configuration
works translate -c config/decoder.yml -i "$input"
same out expected "decoder.yml"
works translate "${usual[@]}" -b 1 -i "$input" -o greedy
works translate -c config/decoder.yml -b 1 -n 0 -i "$input"
same out greedy "the command line comes before decoder.yml"
works score -c config/decoder.yml -t one one
cat config/decoder.yml - >config/dumped.yml <<'YAML'
n-best: false
max-length-factor: 2
allow-unk: false
skip-cost: false
input: [stdin]
version: v1.10
sigterm: save-and-exit
type: amun
stat-freq: 0
tsv-fields: 0
devices: [0]
num-devices: 0
no-nccl: false
precision: [float32, float32]
quantize-range: 0
shortlist: []
cpu-threads: 0
YAML
works score -c config/dumped.yml -t one one
works translate -c config/dumped.yml -i one
echo 'max-length-factor: .inf' >bad.yml
refuses "bad.yml: --max-length-factor" translate -c bad.yml
echo 'word-penalty: 1e7' >bad.yml
refuses "bad.yml: --word-penalty" score -c bad.yml
echo 'beem-size: 2' >bad.yml
refuses "bad.yml: unknown option '--beem-size'; did you mean '--beam-size'?" translate -c bad.yml
works translate "${usual[@]}" -c bad.yml --ignore-unknown-config -i one
grep -qxF "fuselage: note: bad.yml: 'beem-size' is ignored" err || fail "what is ignored: $(cat err)"
printf 'allow-unk: true\nmax-length: 100\nquiet: true\nbeam-size: 3\n' >convert.yml
works convert "${usual[@]}" -c convert.yml -o converted
grep -q '"beam-size": 3' converted/config.json || fail "convert with a configuration"
echo 'beam-size: {a: 6}' >bad.yml
refuses "bad.yml: 'beam-size' is a mapping" translate -c bad.yml
echo 'output-sampling: [topk, none]' >bad.yml
refuses "bad.yml: --output-sampling: K must be a whole number from 1 to 1024, not 'none'" translate -c bad.yml
printf 'output-sampling: [topk, 3]\nseed: 5\n' >sampling.yml
works translate "${usual[@]}" -c sampling.yml -i one
cp out drawn
works translate "${usual[@]}" --output-sampling topk 3 --seed 5 -i one
same out drawn "sampling in a configuration"
works score "${usual[@]}" -c sampling.yml -t one one
printf 'output-sampling:\n  []\nseed: 0\n' >none.yml
works translate "${usual[@]}" -i one
cp out best
works translate "${usual[@]}" -c none.yml -i one
same out best "an empty list is no sampling"
echo 'shortlist: [lex.s2t, some]' >bad.yml
refuses "bad.yml: --shortlist: FIRST must be a number from 0 on, not 'some'" translate -c bad.yml
echo '"a\nb\e[2J": 1' >bad.yml
refuses "bad.yml: unknown option '--a\\x0ab\\x1b[2J'" translate -c bad.yml
printf 'beam-size: 2\nbeam_size: 3\n' >bad.yml
refuses "bad.yml: '--beam-size' is given twice" translate -c bad.yml
printf 'beam-size: 2\nbeam-size: 3\n' >bad.yml
refuses "bad.yml: line 2: the key 'beam-size' is given twice" translate -c bad.yml
echo 'beam-size: [2, 3]' >bad.yml
refuses "bad.yml: --beam-size takes 1 value, not 2" translate -c bad.yml
echo 'beam-size: yes' >bad.yml
refuses "bad.yml: --beam-size: a whole number from 1 to 1024 is needed, not 'yes'" translate -c bad.yml
echo 'n-best: maybe' >bad.yml
refuses "bad.yml: --n-best is true or false, not 'maybe'" translate -c bad.yml
{ # 4 + 16 + … 4^9 values by aliases.
  echo 'a0: &a0 [x, x, x, x]'
  for i in 1 2 3 4 5 6 7 8; do echo "a$i: &a$i [*a$((i - 1)), *a$((i - 1)), *a$((i - 1)), *a$((i - 1))]"; done
} >bad.yml
refuses "the text holds more than 100000 values" translate -c bad.yml
printf 'a: [b\n' >bad.yml
refuses "bad.yml: line" translate -c bad.yml
refuses "cannot open nope.yml" translate -c nope.yml

# Options.
refuses "--output-sampling: there is no method 'fulll'; did you mean 'full'?" translate --output-sampling fulll
refuses "--output-sampling: the temperature must be a number from 0.001 to 1000, not '0'" translate --output-sampling full 0
refuses "--output-sampling: 'topk' takes 2 numbers, not 3; see" translate --output-sampling topk 10 0.5 1
refuses "--output-sampling: 'full' takes 1 number, not 2; give a text, as 'one', before the options, or with -i" \
  translate --output-sampling full 1 one
refuses "--output-sampling: K must be a whole number from 1 to 1024, not 'one'; give a text, as 'one'" translate --output-sampling topk one
refuses "--shortlist: FIRST must be a number from 0 on, not 'one'; give a text, as 'one', before the options, or with -i" \
  translate --shortlist lex.bin one
refuses "--shortlist: a path and up to three numbers are needed, not 5 values; give a text" translate --shortlist lex 1 2 0 one
refuses "--normalize: a number from -10 to 10 is needed, not 'one'; give a text, as 'one', before the options, or with -i" \
  translate --normalize one
refuses "--normalize: a number from -10 to 10 is needed, not 'one'; see" score --normalize one
for seed in -1 1.5 18446744073709551616; do
  refuses "--seed: a whole number from 0 to 18446744073709551615 is needed, not '$seed'" translate --seed=$seed
done
refuses "marian-decoder's --output-sampling is not supported here: words are given" score --output-sampling x
refuses "skip-cost cannot go with output-sampling" translate "${usual[@]}" -b 1 --skip-cost --output-sampling
refuses "marian-decoder's --devices is not supported; name GPUs with --device cuda:0,cuda:1" translate -d 0
refuses "unknown option '--beam-siz'; did you mean '--beam-size'?" translate --beam_siz 6
refuses "unknown option '--beam'; did you mean '--beam-size'?" translate --beam 6

# Options of CTranslate2, and of training.
while read -r name counterpart; do
  refuses "${name//_/-} is an option of CTranslate2; here it is $counterpart" translate "$name" 2
done <<'NAMES'
--inter_threads --cpu-threads N
--intra_threads --cpu-threads N
--batch_size --mini-batch N
--compute_type --precision FORMAT
--num_hypotheses --n-best --n-best-size N
--length_penalty --normalize X
--return_scores --n-best
--with_scores --n-best
--max_decoding_length --max-words N
--sampling_topk --output-sampling topk K
--sampling-temperature --output-sampling topk K T
--device_index --device cuda:N
--target_prefix --force-decode
--prefix --force-decode
NAMES
refuses "unknown option '--sampling-topk'" score --sampling_topk 2
refuses "--compute-type is an option of CTranslate2; here it is --precision FORMAT" score --compute_type int8
refuses "--learn-rate is an option of marian for training; leave it out" translate --learn-rate 0.1
printf 'early-stopping: 10\ncost-type: ce-mean-words\n' >training.yml
refuses "training.yml: --cost-type is an option of marian for training; give the configuration for the decoder, which training writes beside the model: model.npz.decoder.yml" \
  translate -c training.yml
refuses "training.yml: --cost-type is an option of marian for training" score -c training.yml
printf 'inter-threads: 2\n' >foreign.yml
refuses "foreign.yml: --inter-threads is an option of CTranslate2; here it is --cpu-threads N" translate -c foreign.yml

refuses "vocabularies are two files, source and target, not 3" translate "${usual[@]}" one
refuses "--train-sets takes 2 values, not 3" score "${usual[@]}" -t one one two
refuses "--precision takes 2 values, not 3" translate --precision int4 int8 float32
refuses "--output needs a value, but the option -i follows" translate -o -i one
refuses "--beam-size needs a value" translate -b
refuses "'two' belongs to no option" score two -t one one
refuses "--beam-size: a whole number from 1 to 1024 is needed, not '0'" translate -b 0
refuses "--beam-size: a whole number from 1 to 1024 is needed, not '1025'" translate -b 1025
refuses "--precompute-memory: a number from 0 to" translate --precompute-memory nan
refuses "activations are 'fast', which changes results" translate "${usual[@]}" --exact --activations fast
refuses "--beam-size" translate -b x
refuses "--normalize: a number from -10 to 10 is needed, not '0.6x'" translate "${usual[@]}" -n 0.6x
refuses "--normalize" translate "${usual[@]}" -n nan
refuses "--normalize" translate "${usual[@]}" -n 11
refuses "--max-length-factor: a number above 0 and up to 1000" translate --max-length-factor 0
refuses "--max-length-factor" translate --max-length-factor nan
refuses "--max-length-factor" translate --max-length-factor 1e30
refuses "--word-penalty" translate --word-penalty=-inf
refuses "--mini-batch-words" translate --mini-batch-words=-1
works translate "${usual[@]}" -b 2 --n-best -n 1 -i one -o normalized
works translate "${usual[@]}" -b 2 --n-best -n -i one
same out normalized "--normalize without a value is 1"
works translate "${usual[@]}" -b 2 --n-best -i one
cmp -s out normalized && fail "--normalize without a value does nothing"
refuses "--n-best-feature requires --n-best" score --n-best-feature F -t one one
refuses "marian-decoder's --n-best-feature is not supported here" translate --n-best-feature F
echo 'n-best: true' >n-best.yml
works score "${usual[@]}" -c n-best.yml -t one one
grep -qE '^-[0-9]' out || fail "n-best of translate in a configuration: $(cat out)"
works translate --version
refuses "alignment can be soft, hard" translate "${usual[@]}" --alignment loud
refuses "not 'one'; give a text, as 'one', before the options, or with -i" translate --alignment one
refuses "there is no command 'translat'; did you mean 'translate'" translat
refuses "no command is given"
refuses "cannot open model a: No such file" translate -m a b
refuses "one stands behind -m but is no model; give a text before the options" translate -m directory one
refuses "--backend: cpu, cuda, reference is needed, not 'gpu'" translate "${usual[@]}" --backend gpu
works --help
works translate --help
grep -q -- '--beam-size' out || fail "help lacks options"

end
