#include "tools/options/sampling_options.h"

#include <fmt/format.h>

#include <charconv>
#include <limits>
#include <string>
#include <system_error>
#include <vector>

#include "base/suggest.h"
#include "fuselage/base/error.h"
#include "tools/options/validators.h"

namespace fuselage {
namespace {

constexpr const char* kSamplingOption = "--output-sampling";

/// More than there can be: parse_sampling counts them, and CLI11 would keep the last ones alone.
constexpr int kMaxValues = 100;

}  // namespace

void add_sampling_option(CLI::App& app, std::optional<Sampling>& sampling) {
  const auto set = [&sampling, &app](const std::vector<std::string>& values) {
    try {
      const bool bare = values.size() == 1 && (values[0].empty() || values[0] == "true");
      sampling = bare ? Sampling() : parse_sampling(values);
    } catch (const Error& error) {
      throw CLI::ValidationError(kSamplingOption, error.what() + hint_of_text(app, values.back()));
    }
  };
  app.add_option_function<std::vector<std::string>>(
         kSamplingOption, set,
         "Draw each word by its probability: full, of all words; topk K, of the K most probable "
         "(10); nucleus P, of the most probable up to the sum P (0.9); epsilon E, of those of at "
         "least the probability E (0.02); each with a temperature T (1). --beam-size is then the "
         "number of samples, 1 unless given")
      ->expected(0, kMaxValues)
      ->type_name("full|topk|nucleus|epsilon [NUMBER] [T]");
}

void add_seed_option(CLI::App& app, std::uint64_t& seed) {
  const auto set_seed = [&seed](const std::string& text) {
    const char* const end = text.data() + text.size();
    const auto [at, error] = std::from_chars(text.data(), end, seed);
    if (text.empty() || error != std::errc() || at != end)
      throw CLI::ValidationError(
          "--seed", fmt::format("a whole number from 0 to {} is needed, not {}",
                                std::numeric_limits<std::uint64_t>::max(), in_quotes(text)));
  };
  app.add_option_function<std::string>(
         "--seed", set_seed,
         "With --output-sampling: line i, from 0, gives what it gives alone with the seed SEED + i")
      ->type_name("SEED")
      ->default_str("0");
}

}  // namespace fuselage
