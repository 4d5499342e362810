#include "fuselage/inspect/print.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <map>

#include "base/suggest.h"
#include "fuselage/backends/compile.h"
#include "fuselage/base/error.h"
#include "fuselage/graph/text.h"
#include "fuselage/inspect/picture.h"

namespace fuselage {
namespace {

constexpr std::array<std::string_view, 5> kParts{"load", "source", "step", "all", "whole"};
constexpr std::array<BindingTime, 3> kTimes{BindingTime::load, BindingTime::source,
                                            BindingTime::step};

/// A program in the text form, with comments after its nodes.
std::string print_program(const Report& report, const Graph& part, BindingTime time,
                          bool measured) {
  const KernelSet kernels = report.backend->kernels(time);
  const std::map<NodeId, PlannedNode> plan = plan_of(part, time, *report.backend);
  const auto comment = [&](NodeId id) {
    const auto found = plan.find(id);
    std::string text =
        kernel_text(part, id, kernels, found == plan.end() ? nullptr : &found->second);
    const StageNode node{.graph = &part, .id = id, .whole = id, .program = time, .key = ""};
    const std::optional<MeasuredTime> spent =
        measured ? time_of(report, node) : std::optional<MeasuredTime>();
    if (spent) text += "; " + print_time(*spent);
    return text;
  };
  return print_graph(part, {.provenance = report.provenance, .comment = comment});
}

std::string print_programs(const Report& report, const Stage& stage, Part part) {
  const Programs programs =
      stage.planned ? report.history.programs : split_by_binding_time(stage.graph);
  std::string text;
  for (const BindingTime time : kTimes) {
    if (part != Part::all && part != static_cast<Part>(time)) continue;
    text += fmt::format("# program {}\n", to_string(time));
    text += print_program(report, program(programs, time), time, stage.planned);
  }
  return text;
}

}  // namespace

Part part_of(std::string_view name) {
  const auto* const found = std::find(kParts.begin(), kParts.end(), name);
  if (found == kParts.end())
    throw Error(fmt::format("there is no program {}{}; there are {}", in_quotes(name),
                            did_you_mean(name, kParts), fmt::join(kParts, ", ")));
  return static_cast<Part>(found - kParts.begin());
}

std::string print_record(const PassRecord& record) {
  std::string text =
      fmt::format("# pass {}: {}", record.name, record.changed ? "changed" : "no change");
  for (const auto& [rule, count] : record.rewrites) text += fmt::format(", {} × {}", rule, count);
  text += '\n';
  for (const Refusal& refusal : record.refusals)
    text += fmt::format("#   {} refused at {}: {} ({})\n", refusal.rule, refusal.node,
                        refusal.reason, refusal.guard);
  if (!record.skipped.empty())
    text += fmt::format("#   not allowed: {}\n", fmt::join(record.skipped, ", "));
  return text;
}

std::string print_pass_times(const History& history) {
  std::string text = "      ms  pass\n";
  double total = 0;
  for (const Stage& stage : history.stages) {
    if (!stage.is_pass()) continue;
    total += stage.record.seconds;
    text += fmt::format("{:8.2f}  {}", 1e3 * stage.record.seconds, stage.name);
    for (const auto& [rule, count] : stage.record.rewrites)
      text += fmt::format(", {} × {}", rule, count);
    text += '\n';
  }
  return text + fmt::format("{:8.2f}  all\n", 1e3 * total);
}

std::string print_stage(const Report& report, const Stage& stage, Part part) {
  if (part != Part::whole) return print_programs(report, stage, part);
  const Graph& graph = stage.graph;
  return print_graph(graph, {.provenance = report.provenance, .comment = [&](NodeId id) {
                               return std::string(to_string(graph.binding(id)));
                             }});
}

std::string print_stage_dot(const Report& report, const Stage& stage, Part part) {
  if (part == Part::all) return print_dot(report, stage);
  if (part != Part::whole) return print_dot(report, stage, static_cast<BindingTime>(part));
  Stage whole = stage;
  whole.planned = false;
  return print_dot(report, whole);
}

}  // namespace fuselage
