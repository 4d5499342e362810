#pragma once

#include <string>
#include <vector>

#include "fuselage/models/decode_defaults.h"
#include "models/huggingface/config_files.h"

namespace fuselage {

/// The settings of generate() that a directory states, or that are its defaults: greedy search, and
/// a length penalty of 1. Adds a note for each setting that has no counterpart. Throws Error for
/// values that are out of range.
DecodeDefaults generation_settings(const HuggingFaceConfig& config,
                                   std::vector<std::string>& notes);

}  // namespace fuselage
