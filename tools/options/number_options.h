#pragma once

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <functional>
#include <optional>
#include <string>
#include <type_traits>
#include <vector>

#include "base/numbers/number_range.h"

namespace fuselage {

// CLI11 reads numbers by the locale of C and prints them by that of C++, which a host program may
// have set to one with a decimal comma. These options use neither.

/// The type of the value of an optional, or T itself.
template <typename T>
struct NumberOf {
  using Type = T;
};
template <typename T>
struct NumberOf<std::optional<T>> {
  using Type = T;
};

/// Sets `set` to be called with a number of `range`; whole numbers are named N, others X.
CLI::Option* add_number_function(CLI::App& app, const std::string& names,
                                 const std::function<void(double)>& set,
                                 const std::string& description, const NumberRange& range);

/// An option that sets `target`, a number or an optional one. The help shows the initial value of a
/// number that is not optional.
template <typename T>
CLI::Option* add_number(CLI::App& app, const std::string& names, T& target,
                        const std::string& description, const NumberRange& range) {
  using Number = typename NumberOf<T>::Type;
  const auto set = [&target](double value) { target = static_cast<Number>(value); };
  CLI::Option* option = add_number_function(app, names, set, description, range);
  if constexpr (std::is_same_v<T, Number>) option->default_str(fmt::format("{}", target));
  return option;
}

/// An option of any number of values.
CLI::Option* add_numbers(CLI::App& app, const std::string& names, std::vector<double>& target,
                         const std::string& description, const NumberRange& range);

}  // namespace fuselage
