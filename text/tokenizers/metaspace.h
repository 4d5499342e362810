#pragma once

#include <cstdint>
#include <string>

namespace fuselage {

class JsonPart;

/// The step Metaspace of a tokenizer.json, which writes a sign in place of each space.
struct MetaspaceOptions {
  /// Where a sign is put before a text that begins without one.
  enum class Prepend : std::uint8_t { always, first, never };

  std::string replacement;  ///< the sign, mostly U+2581
  Prepend prepend = Prepend::always;
};

/// Throws Error for a sign that is not one character, and for an unknown place.
MetaspaceOptions metaspace_options(const JsonPart& part);

}  // namespace fuselage
