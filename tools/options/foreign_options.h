#pragma once

#include <string_view>

namespace fuselage {

/// An option of CTranslate2, and what Fuselage has in its place.
struct ForeignOption {
  std::string_view name;         ///< with '-' for '_'
  std::string_view counterpart;  ///< the long name of an option
  std::string_view advice;       ///< how to say the same
};

/// The option of this name, for commands that have its counterpart; nullptr: there is none.
const ForeignOption* find_foreign_option(std::string_view name);

}  // namespace fuselage
