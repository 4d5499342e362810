#include "fuselage/inspect/comparison.h"

#include <fmt/format.h>

#include <set>
#include <string_view>

#include "fuselage/base/error.h"

namespace fuselage {
namespace {

const Summary& summary_of(const Report& report) {
  check(report.summary.has_value(), "a compared report without a summary");
  return *report.summary;
}

/// The lines of `from` that `other` lacks; rules may differ.
std::string missing_lines(std::string_view title, const std::vector<std::string>& from,
                          const std::vector<std::string>& other) {
  const auto without_rules = [](const std::string& line) {
    return std::string_view(line).substr(0, line.rfind(" by "));
  };
  std::set<std::string_view> known;
  for (const std::string& line : other) known.insert(without_rules(line));
  std::string text;
  for (const std::string& line : from)
    if (!known.contains(without_rules(line))) text += fmt::format("only {}: {}\n", title, line);
  return text;
}

}  // namespace

std::string print_comparison(const Comparison& comparison) {
  const Summary& left = summary_of(comparison.left);
  const Summary& right = summary_of(comparison.right);
  std::string text =
      fmt::format("# this: {}\n# against: {}\n", comparison.left_title, comparison.right_title);
  const Workload& one = left.workload;
  const Workload& other = right.workload;
  if (one.beam != other.beam || one.batch != other.batch)
    text += fmt::format("# this: beam {:g}, {:g} sentences in a batch; against: {:g}, {:g}\n",
                        one.beam, one.batch, other.beam, other.batch);
  text += print_figures(left.after, right.after, left.workload, "this", "against");
  const std::vector<std::string> lefts = findings_of(left), rights = findings_of(right);
  return text + missing_lines("this", lefts, rights) + missing_lines("against", rights, lefts);
}

}  // namespace fuselage
