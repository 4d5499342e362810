#!/usr/bin/env bash
# Matrices in fewer bits, and approximate activations. Usage: quantize_test.sh FUSELAGE DATA MODULE

# shellcheck source=tests/tools/support.sh
source "$(dirname "${BASH_SOURCE[0]}")/support.sh"

# Matrices in integers.
works quantize "$model" -v "$vocabulary" "$vocabulary" -o integers/
grep -q 'note: .* matrices are stored for int8: .* MB of weights became' err ||
  fail "no report on quantization: $(cat err)"
grep -q '"precision": "int8"' integers/config.json || fail "int8 is not the model's default"
[[ $(wc -c <integers/weights.safetensors) -lt $(($(wc -c <"$model") / 3)) ]] ||
  fail "the matrices did not shrink"
grep -q '^Wemb  *\[.*\]  *int8  *8  *[0-9]*  *[0-9.e-]*  *[0-9]*$' out || fail "no line on a matrix: $(head -3 out)"
grep -q 'times smaller$' out || fail "no ratio of sizes"
works translate -m integers -b 2 -i "$input" -o int8
works translate -m integers -b 2 -i "$input" --precision int8 --mini-batch 7 --cpu-threads 2
same out int8 "the default precision in batches"
works translate "${usual[@]}" -b 2 -i "$input" --precision int16
works translate "${usual[@]}" -b 2 -i "$input" --precision float32 -o plain
works dump integers --precision int8 --program step
grep -q 'qint8' out || fail "the dump shows no integers"
refuses "--precision" translate "${usual[@]}" --precision int7

# Activations at less than full accuracy.
works translate "${usual[@]}" -b 2 -i "$input" --activations fast -o plain
works dump "$model" -v "$vocabulary" "$vocabulary" --activations table --program step
grep -q 'sigmoid_table' out || fail "the dump shows no table"
echo 'activations: table' >table.yml
works translate "${usual[@]}" -b 2 -i "$input" --activations table -o plain
works translate "${usual[@]}" -b 2 -i "$input" -c table.yml
same out plain "activations in a configuration"
refuses "--activations" translate "${usual[@]}" --activations none
refuses "--output is required" quantize "$model"

# Logarithmic numbers of 4 bits and fewer, and bf16.
works quantize "$model" -v "$vocabulary" "$vocabulary" -o four/ --precision int4
grep -q 'outside \[0, 10\]' out && fail "ranges of products that nobody asked for"
grep -q ' largest  *fixed  *fitted ' out || fail "no errors of other scales: $(head -1 out)"
grep -q '"precision": "int4"' four/config.json || fail "int4 is not the model's default"
head -3 "$input" >three.txt
works quantize "$model" -v "$vocabulary" "$vocabulary" -o four/ --precision int4 --report three.txt
grep -q '^product  *of rows  *least  *most  *outside \[0, 10\]$' out || fail "no ranges of products"
refuses "nope.txt" quantize "$model" -v "$vocabulary" "$vocabulary" -o four/ --report nope.txt
works translate -m four -b 2 -i "$input" --precision fp32
works quantize "$model" -v "$vocabulary" "$vocabulary" -o coarse/ --precision int4 --bits 2 \
  --scales tensor --quiet
[[ ! -s out && ! -s err ]] || fail "a report in spite of --quiet"
works quantize "$model" -v "$vocabulary" "$vocabulary" -o fixed/ --precision int4-log --fit fixed \
  --fixed-scale 2
works quantize "$model" -v "$vocabulary" "$vocabulary" -o short/ --precision bf16
works translate -m short -b 2 -i "$input" --precision fp32
works quantize integers -o again.8
grep -q 'note: all [0-9]* matrices are stored for int8 already, and no number changes' err ||
  fail "no note on integers that stay: $(cat err)"
same integers/weights.safetensors again.8/weights.safetensors "integers that stay"
works quantize integers -o again.4 --precision int4
grep -q 'of them were stored as qint8 before: these errors come on top' err ||
  fail "no note on integers that are stored anew: $(cat err)"
[[ $(wc -c <again.4/weights.safetensors) -eq $(wc -c <four/weights.safetensors) ]] ||
  fail "integers that are stored anew take $(wc -c <again.4/weights.safetensors) bytes"
works translate -m again.4 -b 2 -i "$input"

# Linear numbers of 4 bits: products in int8, in the size of 4 bits.
works quantize "$model" -v "$vocabulary" "$vocabulary" -o linear --precision int4-linear
grep -q ' int4-linear  *4  *[0-9]' out || fail "the report lacks int4-linear: $(cat out)"
grep -q '"precision": "int8"' linear/config.json || fail "int8 is not the default of int4-linear"
[[ $(wc -c <linear/weights.safetensors) -eq $(wc -c <four/weights.safetensors) ]] ||
  fail "int4-linear takes $(wc -c <linear/weights.safetensors) bytes"
works translate -m linear -b 2 --n-best -i "$input" -o linear.out
works quantize -m linear -o linear.8 --precision int8 --quiet
works translate -m linear.8 -b 2 --n-best -i "$input"
same out linear.out "integers of 4 bits that are stored for int8"
works quantize "$model" -v "$vocabulary" "$vocabulary" -o linear.2 --precision int4-linear --bits 2 --scales tensor --fit largest --quiet
[[ $(wc -c <linear.2/weights.safetensors) -lt $(wc -c <linear/weights.safetensors) ]] || fail "2 bits are not smaller"
refuses "--fit fixed gives a level of int4, not of int4-linear" \
  quantize "$model" -o x --precision int4-linear --fit fixed
refuses "int4-linear has 2 to 4 bits" quantize "$model" -o x --precision int4-linear --bits 1

# Fewer bits have their size.
four=$(wc -c <four/weights.safetensors)
for bits in 3 2 1; do
  works quantize "$model" -v "$vocabulary" "$vocabulary" -o "bits.$bits" --precision "int$bits"
  grep -q " int$bits  *$bits  *[0-9]" out || fail "the report lacks $bits bits"
  works quantize "$model" -v "$vocabulary" "$vocabulary" -o same.bits --precision int4 --bits "$bits" --quiet
  same "bits.$bits/weights.safetensors" same.bits/weights.safetensors "int$bits and --bits $bits"
  grep -q '"precision": "int4"' "bits.$bits/config.json" || fail "int4 is not the default of int$bits"
  size=$(wc -c <"bits.$bits/weights.safetensors")
  [[ $size -lt $four ]] || fail "$bits bits take $size bytes, more bits $four"
  four=$size
  works info "bits.$bits"
  grep -q "^  qlog4 [0-9]* of $bits bits in" out || fail "no bits in the report: $(cat out)"
  works convert -m "bits.$bits" -o written.again
  same "bits.$bits/weights.safetensors" written.again/weights.safetensors "$bits bits, written again"
  works translate -m "bits.$bits" -b 2 -i "$input"
done

# A precision for each pattern of names.
works quantize "$model" -v "$vocabulary" "$vocabulary" -o mixed/ --precision int4 \
  --precision-of 'Wemb=int8,encoder_*_ffn_W?=int3,encoder_*=fp32'
grep -q 'matrices are stored for int8 and int3 and fp32 and int4:' err || fail "a note on all: $(cat err)"
grep -q '^Wemb .* int8  *8 ' out || fail "Wemb is not in 8 bits"
grep -q '^encoder_l1_ffn_W1 .* int3  *3 ' out || fail "a pattern with two kinds of characters"
grep -q '^encoder_l1_self_W. .* fp32  *32 ' out || fail "fp32 for a pattern: $(cat out)"
grep -q '^decoder.* int4  *4 ' out || fail "--precision for other names"
grep -q '"precision": "stored"' mixed/config.json || fail "the types of matrices are not the default"
works dump mixed --program step
for type in qint8 qlog4; do
  grep -q "$type" out || fail "no product in $type"
done
works translate -m mixed -b 2 -i "$input" -o first
works translate -m mixed -b 2 -i "$input" --precision stored --mini-batch 3
same out first "a mixed model in batches"
works convert -m mixed --bake-tables -o baked
works translate -m baked -b 2 -i "$input"
same out first "a mixed model with baked tables"
works quantize mixed -o again.mixed --precision-of '*=int4' --precision int8
works translate -m again.mixed -b 2 -i "$input"
refuses "no matrix of the model matches 'Wenb'; did you mean 'Wemb'?" \
  quantize "$model" -o x --precision-of 'Wenb=int8'
refuses "matches 'encoder_*_b?': it matches vectors only" \
  quantize "$model" -o x --precision-of 'Wemb=int4,encoder_*_b?=int8'
refuses "that match 'Wemb' match a pattern before it" \
  quantize "$model" -o x --precision-of '*=int4,Wemb=int8'
refuses "there is no precision of stored matrices 'int7'" quantize "$model" -o x --precision-of 'Wemb=int7'
refuses "'Wemb' is not PATTERN=FORMAT" quantize "$model" -o x --precision-of 'Wemb'
refuses "--precision-of is empty" quantize "$model" -o x --precision-of ''
refuses "int4-log is about the rows" quantize "$model" -o x --precision-of 'Wemb=int4-log'
refuses "with --precision fp32 alone" quantize "$model" -o x --precision fp32
refuses "int3 is the number of its bits already" quantize "$model" -o x --precision int3 --bits 2

refuses "--bits is about 4-bit numbers, not int8" quantize "$model" -o x --bits 3
refuses "--bits" quantize "$model" -o x --precision int4 --bits 5
refuses "--fixed-scale is for --fit fixed, not fitted" \
  quantize "$model" -o x --precision int4 --fixed-scale 2
refuses "--fit fixed gives them" \
  quantize "$model" -o x --precision int4 --fit fixed --scales tensor

end
