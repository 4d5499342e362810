#include "tools/commands/models/check_report.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

namespace fuselage {
namespace {

using CheckJson = nlohmann::ordered_json;

std::string print_bisection(const Bisection& found, Precision precision) {
  const NodeComparison& comparison = found.comparison;
  if (!comparison.difference)
    return fmt::format("{}: {} nodes are the same as the interpreter's; {} are not comparable\n",
                       to_string(precision), comparison.compared, comparison.skipped);
  const NodeDifference& d = *comparison.difference;
  return fmt::format(
      "{}: {} differs from the interpreter's\n"
      "  {:.9g} instead of {:.9g} at column {} of row {} of sentence {}, after {} word{}\n"
      "  it comes from {}{}{}; before it {} nodes are the same\n",
      to_string(precision), d.node, d.value, d.reference, d.column + 1, d.row + 1, d.sentence + 1,
      found.steps, found.steps == 1 ? "" : "s", d.origins, d.rules.empty() ? "" : " by ", d.rules,
      comparison.compared);
}

/// JSON has no infinity: no limit is null.
CheckJson limit_json(double limit) { return std::isfinite(limit) ? CheckJson(limit) : CheckJson(); }

CheckJson bisection_json(const Bisection& found) {
  CheckJson json = {{"same_nodes", found.comparison.compared},
                    {"not_comparable", found.comparison.skipped},
                    {"difference", nullptr}};
  if (const auto& d = found.comparison.difference)
    json["difference"] = {
        {"node", d->node},      {"origins", d->origins},   {"rules", d->rules},
        {"words", found.steps}, {"sentence", d->sentence}, {"row", d->row},
        {"column", d->column},  {"value", d->value},       {"reference", d->reference}};
  return json;
}

CheckJson check_json(const PrecisionCheck& check) {
  const CheckResult& result = check.result;
  CheckJson json = {{"precision", to_string(*result.compile.precision)},
                    {"probes", result.probes.size()},
                    {"same_words", result.same_words()},
                    {"mean_drift", result.mean_drift},
                    {"largest_drift", result.largest_drift},
                    {"limits",
                     {{"mean_drift", limit_json(result.limits.mean_drift)},
                      {"largest_drift", limit_json(result.limits.largest_drift)},
                      {"tie", limit_json(result.limits.tie)}}},
                    {"passed", check.passes()},
                    {"failures", check.failures}};
  if (check.bisection) json["bisection"] = bisection_json(*check.bisection);
  return json;
}

}  // namespace

bool PrecisionCheck::passes() const {
  return failures.empty() && !(bisection && bisection->comparison.difference);
}

std::string check_table_head() {
  return "precision   same words  mean drift  largest drift  verdict\n";
}

std::string check_table_row(const PrecisionCheck& check) {
  const CheckResult& result = check.result;
  return fmt::format("{:<9}  {:>4} of {:<4}  {:>10.2g}  {:>13.2g}  {}\n",
                     to_string(*result.compile.precision), result.same_words(),
                     result.probes.size(), result.mean_drift, result.largest_drift,
                     check.failures.empty() ? "ok" : "FAILS");
}

std::string check_table_notes(const PrecisionCheck& check) {
  const Precision precision = *check.result.compile.precision;
  std::string text;
  for (const std::string& failure : check.failures)
    text += fmt::format("{}: {}\n", to_string(precision), failure);
  if (check.bisection) text += print_bisection(*check.bisection, precision);
  return text;
}

std::string print_checks_json(const std::string& path, const std::vector<PrecisionCheck>& checks) {
  CheckJson json = {{"model", path},
                    {"passed", std::all_of(checks.begin(), checks.end(),
                                           [](const auto& check) { return check.passes(); })}};
  json["checks"] = CheckJson::array();
  for (const PrecisionCheck& check : checks) json["checks"].push_back(check_json(check));
  return json.dump(2, ' ', false, CheckJson::error_handler_t::replace) + "\n";
}

}  // namespace fuselage
