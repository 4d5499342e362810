#include "fuselage/base/activations.h"

#include <array>

#include "base/suggest.h"

namespace fuselage {
namespace {

constexpr std::array<std::string_view, 3> kActivations{"exact", "fast", "table"};
static_assert(kActivations.size() == static_cast<std::size_t>(Activations::table) + 1);

}  // namespace

std::span<const std::string_view> activations_names() { return kActivations; }

std::string_view to_string(Activations activations) {
  return kActivations[static_cast<std::size_t>(activations)];
}

Activations activations_from_string(std::string_view name) {
  return static_cast<Activations>(find_name("kind of activations", name, kActivations));
}

}  // namespace fuselage
