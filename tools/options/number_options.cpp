#include "tools/options/number_options.h"

#include "tools/options/validators.h"

namespace fuselage {
namespace {

/// The number in a text that the option's validator accepted.
double accepted_number(const std::string& text) { return parse_number(text).value(); }

}  // namespace

CLI::Option* add_number_function(CLI::App& app, const std::string& names,
                                 const std::function<void(double)>& set,
                                 const std::string& description, const NumberRange& range) {
  return app
      .add_option_function<std::string>(
          names, [set](const std::string& text) { set(accepted_number(text)); }, description)
      ->type_name(range.whole ? "N" : "X")
      ->check(number_in(range));
}

CLI::Option* add_numbers(CLI::App& app, const std::string& names, std::vector<double>& target,
                         const std::string& description, const NumberRange& range) {
  const auto set = [&target](const std::vector<std::string>& texts) {
    target.clear();
    for (const std::string& text : texts) target.push_back(accepted_number(text));
  };
  return app.add_option_function<std::vector<std::string>>(names, set, description)
      ->type_name(range.whole ? "N" : "X")
      ->check(number_in(range));
}

}  // namespace fuselage
