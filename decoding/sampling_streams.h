#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "decoding/lines/line_encoder.h"
#include "fuselage/backends/batch.h"
#include "fuselage/decoding/beam_search.h"

namespace fuselage {

/// The stream of line `number`, a well mixed function of seed + number: line i with the seed s has
/// that of line 0 with the seed s + i.
std::uint64_t stream_of_line(std::uint64_t seed, std::size_t number);

/// Each line `samples` times, one after the other, with a stream for each, which follows from the
/// line's.
std::vector<EncodedLine> sampled_lines(std::span<const EncodedLine> lines, std::size_t samples);

/// The hypotheses of each `samples` results as one result: best first, at most n_best; 0: all.
std::vector<NBest> gathered_samples(std::vector<NBest> found, std::size_t samples,
                                    std::size_t n_best);

/// A batch with the streams of its sentences, as the input kSamplingStreams. Neither copies nor
/// moves, since the batch refers to it.
class SamplingStreams {
 public:
  explicit SamplingStreams(std::span<const std::uint64_t> streams);
  SamplingStreams(const SamplingStreams&) = delete;
  SamplingStreams& operator=(const SamplingStreams&) = delete;

  /// `batch` with one more input; valid until the next call.
  Batch added_to(Batch batch);

 private:
  std::vector<std::int32_t> lengths_;
  std::vector<float> numbers_;
  std::vector<BatchInput> inputs_;
};

}  // namespace fuselage
