#pragma once

#include <functional>
#include <string>
#include <vector>

#include "fuselage/base/log.h"
#include "fuselage/decoding/translator.h"

namespace fuselage {

/// Changes the options of a translator to suit its model.
using AdjustOptions = std::function<void(const Model&, TranslatorOptions&)>;

/// The Translator of `fuselage translate` with these arguments, as open_translator() makes it, but
/// with options that may follow from the model.
Translator open_adjusted_translator(const std::vector<std::string>& arguments, const Log& log,
                                    const AdjustOptions& adjust);

}  // namespace fuselage
