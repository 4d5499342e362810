#!/usr/bin/env bash
# Evaluation of graphs on given inputs, and its errors.
# Usage: run_test.sh FUSELAGE DATA MODULE

# shellcheck source=tests/tools/support.sh
source "$(dirname "${BASH_SOURCE[0]}")/support.sh"

cat >identity.ir <<'IR'
fuselage.graph 1
graph "lengths"
domain sentence = sentence
domain source = source of sentence
domain words = vocabulary 4
map source.word : source -> words
input x : source f32[2]
%x = input() {name = "x"}
%y = tanh(%x)
%mean = mean_rows(%y) {to = [source.sentence]}
return y = %y, mean = %mean
IR
cat >words.ir <<'IR'
fuselage.graph 1
graph "words"
domain sentence = sentence
domain source = source of sentence
domain words = vocabulary 4
map source.word : source -> words
%E = param() {name = "E", domain = words, dims = [2]}
%x = select_rows(%E) {via = [source.word]}
return x = %x
IR

# An array file without numpy: npy DESCR SHAPE BYTES-AS-PRINTF.
npy() {
  local header="{'descr': '$1', 'fortran_order': False, 'shape': $2, }"
  printf -v header '%-117s\n' "$header"
  printf '\x93NUMPY\x01\x00\x76\x00%s' "$header"
  # shellcheck disable=SC2059
  printf "$3"
}
one='\x00\x00\x80\x3f'
zero='\x00\x00\x00\x00'
npy '<f4' '(2, 2)' "$zero$one$one$zero" >x.npy
npy '<f4' '(2, 3)' "$zero$one$one$zero$one$one" >wide.npy
npy '<i4' '(2, 2)' "$zero$zero$zero$zero" >integers.npy
echo "0 3" >ids.txt

works run identity.ir --input x=x.npy --input source.word=ids.txt
grep -qE '^y +f32\[2, 2\] 0 0\.76159' out || fail "the table of outputs: $(cat out)"
grep -qE '^mean +f32\[1, 2\] 0\.38079' out || fail "the table of outputs: $(cat out)"
works run identity.ir --input x=x.npy --input source.word=ids.txt -o y.npz
# What run writes, it reads: the rows of y are the input y of a graph.
sed 's/input x :/input y :/; s/name = "x"/name = "y"/' identity.ir >again.ir
works run again.ir --input y=y.npz --input source.word=ids.txt
grep -qE '^y +f32\[2, 2\] 0 0\.64201' out || fail "outputs as inputs: $(cat out)"
works run identity.ir --input x=x.npy --input source.word=ids.txt --compare reference
grep -qE '^the same in [0-9]+ nodes' out || fail "--compare: $(cat out)"
works run identity.ir --input x=x.npy --input source.word=ids.txt --passes none

refuses "needs the input 'source.word', with rows of 'source'" run identity.ir --input x=x.npy
refuses "has no input 'source.words'; did you mean 'source.word'?" run identity.ir --input source.words=ids.txt
refuses "--input is NAME=FILE, not 'x.npy'" run identity.ir --input x.npy
refuses "has shape [2, 3], but rows of [2] make [2, 2]" run identity.ir --input x=wide.npy --input source.word=ids.txt
refuses "has type i32, but its numbers are f32 or f64" run identity.ir --input x=integers.npy --input source.word=ids.txt
refuses "is numbers, which are read from .npy and .npz" run identity.ir --input x=ids.txt
refuses "is given twice" run identity.ir --input x=x.npy --input x=x.npy
echo "1 2 3" >three.txt
refuses "both are rows of 'source'" run identity.ir --input x=x.npy --input source.word=three.txt
echo "0 4" >large.txt
refuses "has word 4 in row 2 of sentence 1, but its vocabulary has 4 entries" \
  run identity.ir --input x=x.npy --input source.word=large.txt
echo "0 a" >letters.txt
refuses "letters.txt:1: 'a' is no integer; give word ids, or a vocabulary" \
  run identity.ir --input x=x.npy --input source.word=letters.txt
refuses "but the graph has 2 outputs" run identity.ir --input x=x.npy --input source.word=ids.txt -o y.npy
refuses "NAME.npz or NAME.npy, not to 'y.txt'" run identity.ir --input x=x.npy --input source.word=ids.txt -o y.txt
refuses "x.npy is input and output at once" run words.ir --weights y.npz --input source.word=x.npy -o x.npy
refuses "cannot open nope.npy" run identity.ir --input x=nope.npy
refuses "give their file with --weights" run words.ir --input source.word=ids.txt
refuses "a parameter of words.ir, is missing" run words.ir --weights y.npz --input source.word=ids.txt

# A model, by teacher forcing.
make_directory
printf '2 3 0\n5 0\n' >source.txt
printf -- '-1 4 5\n-1 0\n' >target.txt
given=(--input source.word=source.txt --input hyp.word=target.txt)
works run directory "${given[@]}" -o y.npz
works run directory "${given[@]}" --mini-batch 1 -o z.npz
same y.npz z.npz "a batch and single sentences"
works run directory "${given[@]}" --device reference
works run directory "${given[@]}" --compare reference --tolerance 1e-3
head -1 "$data/transformer-ssru/input.sp.en" >pieces.txt
works run directory --input source.word=pieces.txt --vocab source.word="$vocabulary" --input hyp.word=<(echo -1)
refuses "has no words, so it takes no vocabulary" run identity.ir --input x=x.npy --vocab x="$vocabulary"
refuses "for the input 'hyp.word', which is not given" run directory --vocab hyp.word="$vocabulary"

end
