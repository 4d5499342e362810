#pragma once

#include <string>
#include <vector>

#include "tools/options/options.h"

namespace fuselage {

/// What to do about an option that `fuselage serve` does not have, "--beam-size" or "-b": those of
/// `fuselage translate` go behind --translate, and LibreTranslate's have counterparts. Empty: no
/// advice.
std::string advice_against(const std::string& option);

/// Throws Error for an option of `serve` among the arguments behind --translate.
void expect_behind_translate(const Options& serve, const std::vector<std::string>& arguments);

}  // namespace fuselage
