#pragma once

#include <optional>
#include <string>
#include <vector>

#include "fuselage/decoding/self_check.h"

namespace fuselage {

/// The check of a model in one precision.
struct PrecisionCheck {
  CheckResult result;
  std::vector<std::string> failures;
  std::optional<Bisection> bisection = {};

  bool passes() const;
};

/// The head of the table of checks, and the row of one, with line breaks.
std::string check_table_head();
std::string check_table_row(const PrecisionCheck& check);

/// What stands below the table: why the check failed, and the nodes that were compared.
std::string check_table_notes(const PrecisionCheck& check);

/// A JSON object of all checks of the model at `path`; docs/check-a-model.md lists the keys.
std::string print_checks_json(const std::string& path, const std::vector<PrecisionCheck>& checks);

}  // namespace fuselage
