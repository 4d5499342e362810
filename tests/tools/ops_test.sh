#!/usr/bin/env bash
# The description of ops, and the page docs/ops.md. Usage: ops_test.sh FUSELAGE DATA MODULE SOURCES

# shellcheck source=tests/tools/support.sh
source "$(dirname "${BASH_SOURCE[0]}")/support.sh"
page=$4/docs/ops.md

works ops
grep -qE '^select_rows +y\(r\) = x\(via\(r\)\)' out || fail "the list lacks select_rows"
grep -qvE '^[a-z_0-9]+  ' out && fail "a line of the list is not NAME SUMMARY"
works ops select_rows
grep -qxF 'select_rows(x, [default]) {via = path}' out || fail "no signature"
grep -qE '^  operand +x: read through via$' out || fail "no path of an operand"
grep -qE '^  attribute +via: path, required$' out || fail "no required attribute"
grep -qE '^  kernels +cpu \(load, source, step\): .*reference$' out || fail "no kernels of the CPU"
grep -qE '^  kernels +cuda \(source, step\): ' out || fail "no kernels of the GPU"
works ops matmul
grep -qE '^  attribute +transposed: boolean, default false$' out || fail "no default"
works ops concat --format json
python3 - out <<'PYTHON' || fail "JSON of an op"
import json, sys
[op] = json.load(open(sys.argv[1]))["ops"]
assert op["name"] == "concat" and op["operands"][0]["arity"] == "one or more", op
assert "row-wise" in op["traits"] and not op["fused"], op
PYTHON
works ops --format json
python3 - out <<'PYTHON' || fail "JSON of all ops"
import json, sys
ops = json.load(open(sys.argv[1]))["ops"]
assert len(ops) > 40 and all(op["summary"] and op["family"] for op in ops)
fused = {op["name"] for op in ops if op["fused"]}
assert {"linear", "dot_attention"} <= fused and "matmul" not in fused, fused
PYTHON
refuses "there is no op 'select_row'; did you mean 'select_rows'?" ops select_row
refuses "there is no op 'hard_sigmoid'" ops hard_sigmoid
works ops hard_sigmoid --extension "$(dirname "$module")/libhard_sigmoid_extension.so"
grep -qF 'hard_sigmoid(x) {slope = 0.25}' out || fail "no op of an extension"
grep -qE '^  kernels +cpu .*: row_function, reference$' out || fail "no kernel of a row function"

works ops --format markdown
diff "$page" out >changes || fail "docs/ops.md is not the page of these ops; regenerate it by
  fuselage ops --format markdown > docs/ops.md
$(head -n 20 changes)"
end
