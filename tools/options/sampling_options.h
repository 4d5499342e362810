#pragma once

#include <CLI/CLI.hpp>
#include <cstdint>
#include <optional>

#include "fuselage/decoding/sampling.h"

namespace fuselage {

/// Registers the option for words that are drawn at random.
void add_sampling_option(CLI::App& app, std::optional<Sampling>& sampling);

/// Registers the option for the seed of these words.
void add_seed_option(CLI::App& app, std::uint64_t& seed);

}  // namespace fuselage
