#include "fuselage/backends/search.h"

#include <fmt/format.h>

namespace fuselage {

namespace {

constexpr std::string_view kMemberOutput = "log_probs.";

}  // namespace

std::string member_output(std::size_t number) { return fmt::format("{}{}", kMemberOutput, number); }

bool is_member_output(std::string_view name) { return name.starts_with(kMemberOutput); }

std::string scores_are_not_numbers(std::int32_t words) {
  return fmt::format(
      "the model's scores are not numbers after {} words of a translation; its weights may be "
      "damaged",
      words);
}

}  // namespace fuselage
