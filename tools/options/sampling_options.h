#pragma once

#include <CLI/CLI.hpp>
#include <cstdint>
#include <optional>

#include "fuselage/decoding/sampling.h"

namespace fuselage {

/// Registers the options for words that are drawn at random.
void add_sampling_options(CLI::App& app, std::optional<Sampling>& sampling, std::uint64_t& seed);

}  // namespace fuselage
