#include "fuselage/backends/search.h"

#include <fmt/format.h>

namespace fuselage {

std::string scores_are_not_numbers(std::int32_t words) {
  return fmt::format(
      "the model's scores are not numbers after {} words of a translation; its weights may be "
      "damaged",
      words);
}

}  // namespace fuselage
