# Counts the tests of a run of CTest: awk -f test_results.awk CTEST_OUTPUT LastTest.log. A test of CTest is
# a suite of a GoogleTest program, whose tests count one by one, or a script, which counts as one. Prints the
# names of failed tests, and "N passed, N failed, N skipped" last.

function fail(name) {
  print "FAILED: " name
  ++failed
}

# A test that did not come to its end, and a process that failed behind its last test.
function end_suite() {
  if (entry == "") return
  if (running != "")
    fail(entry ": " running)
  else if (status[entry] !~ /Passed|Skipped/ && !failures)
    fail(entry)
  else if (!is_suite) {
    if (status[entry] ~ /Skipped/) ++skipped
    else ++passed
  }
  entry = running = ""
  failures = is_suite = 0
}

FNR == NR {
  if ($0 ~ /^ *[0-9]+\/[0-9]+ Test +#[0-9]+: /) {
    name = $0
    sub(/^ *[0-9]+\/[0-9]+ Test +#[0-9]+: /, "", name)
    rest = name
    sub(/ .*/, "", name)
    status[name] = substr(rest, length(name) + 1)
  }
  next
}

/^[0-9]+\/[0-9]+ Testing: / { end_suite(); entry = $3 }
/^\[==========\] Running / { is_suite = 1 }
/^\[ RUN      \] / { running = $4 }
/^\[       OK \] .* ms\)$/ { ++passed; running = "" }
/^\[  SKIPPED \] .* ms\)$/ { ++skipped; running = "" }
/^\[  FAILED  \] .* ms\)$/ {
  name = running
  running = ""
  ++failures
  fail(entry ": " name)
}

END {
  end_suite()
  printf "%d passed, %d failed, %d skipped\n", passed, failed, skipped
}
