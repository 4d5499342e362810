#include "fuselage/inspect/diff.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

#include "fuselage/graph/text.h"
#include "graph/traversal.h"
#include "inspect/lines.h"

namespace fuselage {
namespace {

/// One line of a stage.
struct Line {
  std::string key, label, text, note;
  std::vector<std::string> origins;
};

void append_declarations(const Graph& graph, std::vector<Line>& lines) {
  const std::string text = print_declarations(graph);
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = text.find('\n', at);
    lines.push_back({.text = text.substr(at, end - at)});
    at = end + 1;
  }
}

/// The lines of a stage. Values in a program of the stage "planned" have their labels in the whole
/// graph.
std::vector<Line> lines_of(const History& history, const Stage& stage) {
  std::vector<Line> lines;
  append_declarations(stage.graph, lines);
  const Labels labels(stage.graph);
  for (const StageNode& node : nodes_of(history, stage)) {
    Line line{.key = node.key,
              .label = node_label(stage.graph, node.whole, labels),
              .note = provenance_text(stage.graph, node.whole),
              .origins = stage.graph.node(node.whole).provenance.origins};
    const bool imported =
        node.program && node.graph->node(node.id).op != stage.graph.node(node.whole).op;
    line.text =
        imported
            ? fmt::format("%{} = {}() {} : {}", line.label, node.graph->node(node.id).op->name,
                          print_attributes(*node.graph, node.graph->node(node.id)),
                          node.graph->show(node.graph->value(node.graph->result(node.id)).type))
            : node_line(stage.graph, node.whole, labels);
    lines.push_back(std::move(line));
  }
  for (const Output& output : stage.graph.outputs())
    lines.push_back({.text = fmt::format("return {} = %{}", output.name, labels[output.value])});
  return lines;
}

/// Indexes of the lines whose text is missing in the other stage.
std::vector<std::size_t> missing_in(const std::vector<Line>& lines,
                                    const std::vector<Line>& other) {
  std::multiset<std::string_view> texts;
  for (const Line& line : other) texts.insert(line.text);
  std::vector<std::size_t> missing;
  for (std::size_t i = 0; i < lines.size(); ++i) {
    const auto found = texts.find(lines[i].text);
    if (found == texts.end())
      missing.push_back(i);
    else
      texts.erase(found);
  }
  return missing;
}

/// Removed lines, by the label of their result.
class Removed {
 public:
  Removed(const std::vector<Line>& lines, const std::vector<std::size_t>& missing)
      : lines_(lines), left_(missing.begin(), missing.end()) {
    for (const std::size_t i : missing) by_label_[lines[i].label].push_back(i);
  }

  void take(const std::string& label, StageDiff& diff) {
    if (label.empty()) return;
    for (const std::size_t i : by_label_[label]) take(i, diff);
  }
  void take_rest(StageDiff& diff) {
    while (!left_.empty()) take(*left_.begin(), diff);
  }

 private:
  void take(std::size_t i, StageDiff& diff) {
    if (left_.erase(i) > 0) diff.lines.push_back({false, lines_[i].key, lines_[i].text, ""});
  }

  const std::vector<Line>& lines_;
  std::set<std::size_t> left_;
  std::map<std::string, std::vector<std::size_t>> by_label_;
};

void count_nodes(StageDiff& diff) {
  std::set<std::string> added, removed;
  for (const DiffLine& line : diff.lines)
    if (!line.key.empty()) (line.added ? added : removed).insert(line.key);
  for (const std::string& key : added) diff.changed += removed.count(key);
  diff.added = added.size() - diff.changed;
  diff.removed = removed.size() - diff.changed;
}

}  // namespace

StageDiff diff_stages(const History& history, const Stage& before, const Stage& after) {
  const std::vector<Line> old_lines = lines_of(history, before);
  const std::vector<Line> new_lines = lines_of(history, after);
  StageDiff diff;
  Removed removed(old_lines, missing_in(old_lines, new_lines));
  for (const std::size_t i : missing_in(new_lines, old_lines)) {
    const Line& line = new_lines[i];
    for (const std::string& origin : line.origins) removed.take(origin, diff);
    removed.take(line.label, diff);
    diff.lines.push_back({true, line.key, line.text, line.note});
  }
  removed.take_rest(diff);
  count_nodes(diff);
  return diff;
}

std::string print_diff(const StageDiff& diff, const Stage& before, const Stage& after) {
  std::string text = fmt::format("# diff {} {}: {} nodes added, {} removed, {} changed\n",
                                 before.name, after.name, diff.added, diff.removed, diff.changed);
  for (const DiffLine& line : diff.lines)
    text += fmt::format("{} {}{}{}\n", line.added ? '+' : '-', line.text,
                        line.note.empty() ? "" : "  # ", line.note);
  return text;
}

}  // namespace fuselage
