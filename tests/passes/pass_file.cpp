#include "pass_file.h"

#include <fmt/format.h>

#include <algorithm>
#include <fstream>

#include "fuselage/base/error.h"
#include "fuselage/graph/text.h"
#include "fuselage/ops/registry.h"

namespace fuselage {
namespace {

/// Lines of a file of which only some count. Blank lines stand for the others, so that messages
/// name the right ones; the first line, a comment in every file, carries the header of the text
/// form.
class Section {
 public:
  void add(std::uint32_t line, const std::string& text) {
    while (lines_.size() < line) lines_.emplace_back();
    lines_[line - 1] = text;
  }
  std::uint32_t end() const { return static_cast<std::uint32_t>(lines_.size()); }
  std::string text_behind(const Section& prelude) const {
    std::string text = "fuselage.graph 1\n";
    for (std::size_t i = 1; i < std::max(lines_.size(), prelude.lines_.size()); ++i) {
      if (i < prelude.lines_.size()) text += prelude.lines_[i];
      if (i < lines_.size()) text += lines_[i];
      text += '\n';
    }
    return text;
  }

 private:
  std::vector<std::string> lines_;
};

class PassFileReader {
 public:
  explicit PassFileReader(const std::string& path)
      : path_(path), name_(path.substr(path.rfind('/') + 1)) {}

  std::vector<PassCase> read() {
    std::ifstream in(path_);
    if (!in) throw Error(fmt::format("{}: it cannot be read", path_));
    for (std::string text; std::getline(in, text);) {
      ++line_;
      if (text.rfind("//", 0) == 0)
        directive(text.substr(std::min(text.find_first_not_of("/ "), text.size())));
      else if (section_)
        section_->add(line_, text);
      else if (text.find_first_not_of(" \t") != std::string::npos && text[0] != '#')
        fail("graph text outside of a section");
    }
    finish_case();
    return std::move(cases_);
  }

 private:
  [[noreturn]] void fail(const std::string& message) const {
    throw Error(fmt::format("{}:{}: {}", name_, line_, message));
  }

  void directive(const std::string& text) {
    const std::size_t blank = std::min(text.find(' '), text.size());
    const std::string word = text.substr(0, blank);
    const std::string rest = blank < text.size() ? text.substr(blank + 1) : "";
    section_ = nullptr;
    if (word == "prelude" || word == "case") finish_case();
    if (word == "prelude") {
      prelude_ = {};
      section_ = &prelude_;
    } else if (word == "case") {
      case_ = {.name = rest, .file = name_, .line = line_};
    } else if (case_.name.empty()) {
      fail("'" + word + "' stands outside of a case");
    } else if (word == "rule" || word == "pass") {
      case_.target = rest;
      case_.single_rule = word == "rule";
    } else if (word == "memory") {
      case_.commute.table_bytes = std::stod(rest);
    } else if (word == "precision") {
      case_.precision = precision_from_string(rest);
    } else if (word == "activations") {
      case_.activations = activations_from_string(rest);
    } else if (word == "before") {
      section_ = &before_;
    } else if (word == "after") {
      section_ = &after_;
    } else if (word == "unchanged") {
      case_.outcome = PassCase::Outcome::unchanged;
    } else if (word == "refused" && rest.rfind("by ", 0) == 0) {
      case_.outcome = PassCase::Outcome::refused;
      case_.guard = rest.substr(3);
    } else {
      fail("'" + text +
           "' is none of prelude, case, rule, pass, memory, precision, activations, before, after, "
           "unchanged, refused by");
    }
  }

  void finish_case() {
    if (case_.name.empty()) return;
    if (case_.target.empty() || before_.end() == 0 ||
        (after_.end() > 0) != (case_.outcome == PassCase::Outcome::rewritten))
      throw Error(fmt::format("{}:{}: a case needs a rule or pass, a graph before, and one outcome",
                              name_, case_.line));
    case_.before = before_.text_behind(prelude_);
    case_.after = after_.text_behind(prelude_);
    case_.prelude_end = prelude_.end();
    cases_.push_back(std::move(case_));
    case_ = {};
    before_ = after_ = {};
  }

  std::string path_;
  std::string name_;
  std::uint32_t line_ = 0;
  Section prelude_, before_, after_;
  Section* section_ = nullptr;
  PassCase case_;
  std::vector<PassCase> cases_;
};

}  // namespace

void PrintTo(const PassCase& test, std::ostream* out) {
  *out << test.file << ":" << test.line << " " << test.name;
}

std::vector<PassCase> read_pass_cases(const std::string& path) {
  return PassFileReader(path).read();
}

Graph parse_case(const PassCase& test, const std::string& text) {
  Graph graph = parse_graph(text, test.file, all_ops());
  std::vector<NodeId> nodes = graph.nodes();
  std::reverse(nodes.begin(), nodes.end());
  for (const NodeId id : nodes) {
    const Node& node = graph.node(id);
    if (node.location.line > test.prelude_end || node.results.empty()) continue;
    if (std::all_of(node.results.begin(), node.results.end(), [&](ValueId result) {
          return graph.value(result).uses.empty() && !graph.is_output(result);
        }))
      graph.remove_node(id);
  }
  return graph;
}

}  // namespace fuselage
