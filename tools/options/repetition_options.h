#pragma once

#include <CLI/CLI.hpp>
#include <cstdint>
#include <optional>

#include "fuselage/decoding/repetition.h"

namespace fuselage {

/// Registers --repetition-penalty, --no-repeat-ngram-size and --min-length.
void add_repetition_options(CLI::App& app, Repetition& repetition,
                            std::optional<std::int32_t>& min_length);

}  // namespace fuselage
