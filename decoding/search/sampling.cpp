#include "fuselage/decoding/sampling.h"

#include <fmt/format.h>

#include <array>
#include <string_view>

#include "base/numbers/number_range.h"
#include "base/suggest.h"
#include "fuselage/base/error.h"

namespace fuselage {
namespace {

constexpr NumberRange kTemperature{.least = 0.001, .most = 1000, .whole = false};
constexpr NumberRange kCount{.least = 1, .most = 1024};
constexpr NumberRange kShare{.least = 0, .most = 1, .whole = false, .above = true};

/// In the order of SamplingMethod.
constexpr std::array<std::string_view, 4> kMethods = {"full", "topk", "nucleus", "epsilon"};

double number_of(std::string_view name, const NumberRange& range, const std::string& text) {
  const auto number = parse_number_in(range, text);
  if (!number)
    throw Error(fmt::format("{} must be {}, not {}", name, range.description(), in_quotes(text)));
  return *number;
}

void expect(std::string_view name, const NumberRange& range, double number) {
  if (!range.contains(number))
    throw Error(
        fmt::format("the {} of sampling must be {}, not {}", name, range.description(), number));
}

}  // namespace

Sampling parse_sampling(std::span<const std::string> values) {
  Sampling sampling;
  if (values.empty()) return sampling;
  sampling.method = static_cast<SamplingMethod>(find_name("method", values[0], kMethods));
  const std::size_t most = sampling.method == SamplingMethod::full ? 2 : 3;
  if (values.size() > most)
    throw Error(fmt::format("'{}' takes {} number{}, not {}", values[0], most - 1,
                            most == 2 ? "" : "s", values.size() - 1));
  if (values.size() == most)
    sampling.temperature = number_of("the temperature", kTemperature, values[most - 1]);
  if (most == 2 || values.size() == 1) return sampling;
  switch (sampling.method) {
    case SamplingMethod::full:
      break;
    case SamplingMethod::top_k:
      sampling.k = static_cast<std::int32_t>(number_of("K", kCount, values[1]));
      break;
    case SamplingMethod::nucleus:
      sampling.p = number_of("P", kShare, values[1]);
      break;
    case SamplingMethod::epsilon:
      sampling.epsilon = number_of("E", kShare, values[1]);
      break;
  }
  return sampling;
}

void verify(const Sampling& sampling) {
  expect("temperature", kTemperature, sampling.temperature);
  if (sampling.method == SamplingMethod::top_k) expect("k", kCount, sampling.k);
  if (sampling.method == SamplingMethod::nucleus) expect("p", kShare, sampling.p);
  if (sampling.method == SamplingMethod::epsilon) expect("epsilon", kShare, sampling.epsilon);
}

}  // namespace fuselage
