#pragma once

#include <cstddef>

#include "fuselage/decoding/line_guide.h"
#include "fuselage/decoding/search_guide.h"
#include "fuselage/decoding/translator.h"

namespace fuselage {

/// Adds the beam and the length of the n-best list of line `number`, counted from 0, to its guide
/// in words. `options` are complete. Throws Error for numbers out of range, and for a beam whose
/// search differs from that of the translator in more than its width.
void add_beam(const LineGuide& line, const TranslatorOptions& options, std::size_t number,
              SearchGuide& guide);

}  // namespace fuselage
