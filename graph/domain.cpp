#include "fuselage/graph/domain.h"

#include <array>

namespace fuselage {

std::string_view to_string(BindingTime time) {
  constexpr std::array<std::string_view, 3> kNames{"load", "source", "step"};
  return kNames[static_cast<std::size_t>(time)];
}

std::string_view to_string(DomainKind kind) {
  constexpr std::array<std::string_view, 10> kNames{
      "none", "vocabulary", "sentence",   "source", "shortlist",
      "scan", "parent",     "hypothesis", "prefix", "pairs"};
  return kNames[static_cast<std::size_t>(kind)];
}

}  // namespace fuselage
