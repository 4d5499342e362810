#include "decoding/lines/line_beam.h"

#include <fmt/format.h>

#include "fuselage/base/error.h"

namespace fuselage {

void add_beam(const LineGuide& line, const TranslatorOptions& options, std::size_t number,
              SearchGuide& guide) {
  if (line.beam_size == 0 && line.n_best == 0) return;
  if (options.sampling)
    throw Error(fmt::format(
        "line {} has a beam-size or n-best of its own, but words are drawn; leave it out",
        number + 1));
  const std::int32_t widest = options.beam_size.value();
  const std::int32_t beam = line.beam_size == 0 ? widest : line.beam_size;
  if (beam < 1 || beam > widest)
    throw Error(fmt::format(
        "line {}: its beam-size is {}, it must be from 1 to that of the translator, which is {}",
        number + 1, beam, widest));
  if (line.n_best < 0 || line.n_best > beam)
    throw Error(fmt::format(
        "line {}: its n-best is {}, it must be from 1 to its beam-size, which is {}, or 0",
        number + 1, line.n_best, beam));
  if (beam == 1 && widest > 1 && options.keep_beam.value())
    throw Error(fmt::format(
        "line {}: its beam-size is 1, but with keep-beam scores of a beam of 1 are computed "
        "otherwise than those of {}; state at least 2, or make another translator",
        number + 1, widest));
  if (beam == 1 && !guide.terms.empty())
    throw Error(fmt::format("line {}: terms need a beam-size of at least 2, not 1", number + 1));
  guide.beam_size = line.beam_size;
  guide.n_best = line.n_best;
}

}  // namespace fuselage
