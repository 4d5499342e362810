#pragma once

#include <cstdint>
#include <iosfwd>
#include <string>
#include <vector>

#include "fuselage/graph/graph.h"
#include "fuselage/passes/motion/commute_rows.h"
#include "fuselage/passes/precision/approximate_activations.h"
#include "fuselage/passes/precision/quantize.h"

namespace fuselage {

// Tests of passes are written as text, in tests/passes/*.ir:
//
//     // prelude
//     domain sentence = sentence
//     %w = param() {name = "w", dims = [4]}
//
//     // case one_factor_goes
//     // rule multiply_by_one          or: pass simplify
//     // memory 64000000               most bytes of tables, where a case needs a bound of its own
//     // precision int16               of products, where it is not int8
//     // activations table             in the place of fast ones
//     // before
//     %one = constant() {values = [1]}
//     %y = mul(%w, %one)
//     return y = %y
//     // after                         or: unchanged
//     return y = %w                    or: refused by same_type
//
// A line that begins with "//" says what follows; everything else is the text form of graphs, in
// which '#' begins a comment. The prelude stands before the graphs of all cases up to the next
// prelude; what a graph does not use of it is left out. `rule` runs one rule, `pass` a whole pass.
// `refused by` names the one guard that must refuse the match.

/// One case of a file of pass tests.
struct PassCase {
  enum class Outcome : std::uint8_t { rewritten, unchanged, refused };

  std::string name;
  std::string file;
  std::uint32_t line = 0;
  bool single_rule = false;
  std::string target;  ///< name of the rule or pass
  CommuteOptions commute;
  Precision precision = Precision::int8;
  Activations activations = Activations::fast;
  std::string before;  ///< text graphs whose line numbers are those of the file
  std::string after;
  std::uint32_t prelude_end = 0;  ///< last line of the prelude
  Outcome outcome = Outcome::rewritten;
  std::string guard;
};

/// For messages of the test framework.
void PrintTo(const PassCase& test, std::ostream* out);

/// Reads the cases of a file. Throws Error with file and line.
std::vector<PassCase> read_pass_cases(const std::string& path);

/// Parses one of the case's graphs; what it does not use of the prelude is gone.
Graph parse_case(const PassCase& test, const std::string& text);

}  // namespace fuselage
