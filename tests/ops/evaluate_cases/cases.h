#pragma once

#include <limits>
#include <string>
#include <vector>

#include "tests/ops/evaluation.h"

namespace fuselage {

/// A node and its results, small enough to check by hand.
struct EvaluateCase {
  const char* op;
  std::string equation;  ///< lines over kInputs that end in the node "%y = …"
  std::vector<std::vector<double>> expected;  ///< one list a result
  double tolerance = 1e-12;                   ///< relative, of the double evaluation
};

/// Values of kInputs.
const Inputs& case_inputs();

inline constexpr double kInf = std::numeric_limits<double>::infinity();
inline constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

double logistic(double x);

// The cases of each room of ops/.
std::vector<EvaluateCase> precision_cases();
std::vector<EvaluateCase> structure_cases();
std::vector<EvaluateCase> arithmetic_cases();
std::vector<EvaluateCase> search_cases();
std::vector<EvaluateCase> fused_cases();

}  // namespace fuselage
