#include "base/files/yaml.h"

#include <fmt/format.h>
#include <yaml-cpp/eventhandler.h>
#include <yaml-cpp/exceptions.h>
#include <yaml-cpp/mark.h>
#include <yaml-cpp/node/parse.h>
#include <yaml-cpp/parser.h>

#include <sstream>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

#include "base/files/yaml_text.h"
#include "base/suggest.h"
#include "fuselage/base/error.h"

namespace fuselage {
namespace {

/// Size of a node, with its aliases expanded.
struct Extent {
  std::size_t nodes = 0;
  std::size_t bytes = 0;
};

/// Checks the limits on the parser's events, without building the document.
class LimitChecker : public YAML::EventHandler {
 public:
  LimitChecker(const std::string& name, const YamlLimits& limits) : name_(name), limits_(limits) {}

  void OnDocumentStart(const YAML::Mark& mark) override {
    if (std::exchange(started_, true)) fail(mark, "a second document begins, but only one is read");
  }
  void OnDocumentEnd() override {}

  void OnNull(const YAML::Mark& mark, YAML::anchor_t anchor) override {
    if (at_key()) fail(mark, "a key is not a name");
    add(mark, anchor, {1, 0});
    finish_node();
  }

  void OnScalar(const YAML::Mark& mark, const std::string&, YAML::anchor_t anchor,
                const std::string& value) override {
    if (at_key())
      if (const std::string key = with_escaped_characters(value);
          !open_.back().keys.insert(key).second)
        fail(mark, fmt::format("the key {} is given twice", in_quotes(key)));
    add(mark, anchor, {1, value.size()});
    finish_node();
  }

  void OnAlias(const YAML::Mark& mark, YAML::anchor_t anchor) override {
    if (at_key()) fail(mark, "a key is not a name");
    const auto found = anchors_.find(anchor);
    if (found == anchors_.end()) fail(mark, "an alias stands within the node that it names");
    add(mark, YAML::NullAnchor, found->second);
    finish_node();
  }

  void OnSequenceStart(const YAML::Mark& mark, const std::string&, YAML::anchor_t anchor,
                       YAML::EmitterStyle::value) override {
    begin_collection(mark, anchor, false);
  }
  void OnSequenceEnd() override { end_collection(); }

  void OnMapStart(const YAML::Mark& mark, const std::string&, YAML::anchor_t anchor,
                  YAML::EmitterStyle::value) override {
    begin_collection(mark, anchor, true);
  }
  void OnMapEnd() override { end_collection(); }

 private:
  /// A collection that has not ended.
  struct Open {
    bool is_map = false;
    bool key_is_next = true;
    YAML::anchor_t anchor = YAML::NullAnchor;
    Extent before;  ///< size of the document before the collection
    std::unordered_set<std::string> keys;
  };

  [[noreturn]] void fail(const YAML::Mark& mark, std::string_view what) const {
    throw Error(fmt::format("{}: line {}: {}", name_, mark.line + 1, what));
  }

  bool at_key() const { return !open_.empty() && open_.back().is_map && open_.back().key_is_next; }

  void finish_node() {
    if (!open_.empty() && open_.back().is_map) open_.back().key_is_next ^= true;
  }

  void add(const YAML::Mark& mark, YAML::anchor_t anchor, const Extent& extent) {
    // No overflow: neither term exceeds its limit.
    total_.nodes += extent.nodes;
    total_.bytes += extent.bytes;
    if (total_.nodes > limits_.nodes)
      fail(mark, fmt::format("the text holds more than {} values, each alias counted as a copy of "
                             "its anchor's value",
                             limits_.nodes));
    if (total_.bytes > limits_.bytes)
      fail(mark, fmt::format("the values of the text hold more than {} bytes, each alias counted "
                             "as a copy of its anchor's value",
                             limits_.bytes));
    if (anchor != YAML::NullAnchor) anchors_[anchor] = extent;
  }

  void begin_collection(const YAML::Mark& mark, YAML::anchor_t anchor, bool is_map) {
    if (at_key()) fail(mark, "a key is not a name");
    if (open_.size() == limits_.depth)
      fail(mark, fmt::format("collections nest deeper than {}", limits_.depth));
    const Extent before = total_;
    add(mark, YAML::NullAnchor, {1, 0});
    open_.push_back({.is_map = is_map, .anchor = anchor, .before = before});
  }

  void end_collection() {
    const Open& closed = open_.back();
    if (closed.anchor != YAML::NullAnchor)
      anchors_[closed.anchor] = {total_.nodes - closed.before.nodes,
                                 total_.bytes - closed.before.bytes};
    open_.pop_back();
    finish_node();
  }

  const std::string& name_;
  const YamlLimits& limits_;
  bool started_ = false;
  Extent total_;
  std::vector<Open> open_;
  std::unordered_map<YAML::anchor_t, Extent> anchors_;  ///< sizes of complete nodes
};

void check_limits(const std::string& text, const std::string& name, const YamlLimits& limits) {
  LimitChecker checker(name, limits);
  std::istringstream stream(text);
  YAML::Parser parser(stream);
  while (parser.HandleNextDocument(checker)) {
  }
}

/// Applies with_escaped_characters to all scalars; the nesting is within the limits.
void mend_scalars(YAML::Node node) {
  if (node.IsScalar()) {
    if (std::string text = with_escaped_characters(node.Scalar()); text != node.Scalar())
      node = text;
  } else if (node.IsSequence()) {
    for (const YAML::Node& element : node) mend_scalars(element);
  } else if (node.IsMap()) {
    for (const auto& item : node) {
      mend_scalars(item.first);
      mend_scalars(item.second);
    }
  }
}

}  // namespace

YAML::Node load_yaml(std::string_view text, const std::string& name, const YamlLimits& limits) {
  if (text.size() > limits.bytes)
    throw Error(fmt::format("{}: the YAML text has {} bytes, at most {} are read", name,
                            text.size(), limits.bytes));
  const std::string bytes = without_version_directive(std::string(text));
  try {
    check_limits(bytes, name, limits);
    const YAML::Node root = YAML::Load(bytes);
    mend_scalars(root);
    return root;
  } catch (const YAML::Exception& error) {
    throw Error(fmt::format("{}: line {}: invalid YAML: {}", name, error.mark.line + 1,
                            in_quotes(error.msg)));
  }
}

}  // namespace fuselage
