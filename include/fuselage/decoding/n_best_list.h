#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "fuselage/base/api.h"

namespace FUSELAGE_API fuselage {

/// An entry of an n-best list, a line "N ||| text ||| features ||| score". Between the text and the
/// features there may be further fields, as marian-decoder's alignment and word scores, and others
/// behind the score.
struct NBestEntry {
  std::size_t source_line = 0;  ///< N, the number of the source line, from 0
  std::string text;             ///< the hypothesis; escaped bars, &#124;, are bars
  std::string line;             ///< the whole entry
};

/// Reads an entry, the one of this number in its list, from 0. Throws Error with the number,
/// counted from 1, for a line of fewer than four fields and for an N that is no whole number.
NBestEntry parse_n_best(std::string line, std::size_t number);

/// The entry with "NAME= VALUE" at the end of its features, as marian-scorer prints it, and with
/// `field`, if it is not empty, before the features.
std::string add_feature(const NBestEntry& entry, std::string_view name, double value,
                        std::string_view field = "");

/// Throws Error for a name that would make a list unreadable: "", or one with a blank, '=' or '|'.
void check_feature_name(std::string_view name);

}  // namespace fuselage
