#include <cstddef>
#include <cstdint>
#include <set>
#include <string>
#include <string_view>

#include "base/files/yaml.h"
#include "fuselage/base/error.h"
#include "fuzz/check_message.h"

namespace {

using namespace fuselage;

/// Small limits, which inputs of a few hundred bytes exceed.
constexpr YamlLimits kLimits = {.bytes = 4096, .depth = 8, .nodes = 200};

/// Size of a node with its aliases expanded.
struct Extent {
  std::size_t bytes = 0, nodes = 0;
};

void measure(const YAML::Node& node, std::size_t depth, Extent& extent) {
  ++extent.nodes;
  check(extent.nodes <= kLimits.nodes, "more nodes than are allowed");
  if (node.IsScalar()) extent.bytes += node.Scalar().size();
  check(extent.bytes <= kLimits.bytes, "more bytes than are allowed");
  if (!node.IsSequence() && !node.IsMap()) return;
  check(depth < kLimits.depth, "deeper than is allowed");
  std::set<std::string> keys;
  for (const auto& entry : node) {
    if (node.IsMap()) {
      check(entry.first.IsScalar(), "a key is no scalar");
      check(keys.insert(entry.first.Scalar()).second, "a key is repeated");
      measure(entry.first, depth + 1, extent);
      measure(entry.second, depth + 1, extent);
    } else {
      measure(entry, depth + 1, extent);
    }
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  try {
    Extent extent;
    measure(load_yaml(text, "fuzz.yml", kLimits), 0, extent);
  } catch (const Error& error) {
    check_message(error);
  }
  return 0;
}
