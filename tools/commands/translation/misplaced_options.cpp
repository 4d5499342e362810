#include "tools/commands/translation/misplaced_options.h"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>
#include <utility>

#include "fuselage/base/error.h"
#include "tools/commands/commands.h"
#include "tools/options/model_command_options.h"

namespace fuselage {
namespace {

constexpr std::pair<std::string_view, std::string_view> kOfLibreTranslate[] = {
    {"--char-limit", "--max-characters N"},
    {"--req-limit", "--requests-per-minute N"},
    {"--load-only", "--models FOLDER, a folder with only those models"},
    {"--threads", "--translate --cpu-threads N"},
    {"--ssl", "a proxy before the server, such as nginx or Caddy, with --behind-proxy"},
};

}  // namespace

std::string advice_against(const std::string& option) {
  const auto* counterpart =
      std::ranges::find(kOfLibreTranslate, std::string_view(option),
                        &std::pair<std::string_view, std::string_view>::first);
  if (counterpart != std::end(kOfLibreTranslate))
    return fmt::format("LibreTranslate's {} is not supported; its counterpart here is {}", option,
                       counterpart->second);
  if (!make_translate_command()->options().has(option) || is_for_command_line(option)) return "";
  return fmt::format(
      "{0} is an option of `fuselage translate`; give it behind --translate, as the "
      "last option: --translate {0} …",
      option);
}

void expect_behind_translate(const Options& serve, const std::vector<std::string>& arguments) {
  for (const std::string& argument : arguments) {
    const std::string option = with_dashes(argument.substr(0, argument.find('=')));
    if (option.starts_with('-') && option != "--help" && option != "-h" && option != "--version" &&
        serve.has(option))
      throw Error(fmt::format("{} belongs before --translate", option));
  }
}

}  // namespace fuselage
