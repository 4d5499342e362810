#pragma once

#include <string>
#include <string_view>

namespace fuselage {

/// What is wrong with the normalization tables of a SentencePiece model; empty when nothing is. The
/// library follows them without looking where they lead, so a damaged file would make it read
/// memory that is not its own.
std::string damage_of_normalizer(std::string_view model);

}  // namespace fuselage
