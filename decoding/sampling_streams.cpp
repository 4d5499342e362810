#include "decoding/sampling_streams.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "fuselage/backends/search.h"
#include "fuselage/base/error.h"

namespace fuselage {
namespace {

/// The output function of SplitMix64 (Steele, Lea, Flood 2014, "Fast splittable pseudorandom number
/// generators", figure 15, with Stafford's variant 13), a bijection.
std::uint64_t mixed(std::uint64_t x) {
  x += 0x9E3779B97F4A7C15u;
  x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9u;
  x = (x ^ (x >> 27)) * 0x94D049BB133111EBu;
  return x ^ (x >> 31);
}

}  // namespace

std::uint64_t stream_of_line(std::uint64_t seed, std::size_t number) {
  return mixed(seed + number);
}

std::vector<EncodedLine> sampled_lines(std::span<const EncodedLine> lines, std::size_t samples) {
  std::vector<EncodedLine> all;
  all.reserve(lines.size() * samples);
  for (const EncodedLine& line : lines)
    for (std::size_t sample = 0; sample < samples; ++sample) {
      all.push_back(line);
      all.back().stream = mixed(line.stream ^ sample);
    }
  return all;
}

std::vector<NBest> gathered_samples(std::vector<NBest> found, std::size_t samples,
                                    std::size_t n_best) {
  check(found.size() % samples == 0, "sentences without samples");
  std::vector<NBest> gathered(found.size() / samples);
  for (std::size_t i = 0; i < found.size(); ++i)
    std::move(found[i].begin(), found[i].end(), std::back_inserter(gathered[i / samples]));
  for (NBest& all : gathered) {
    std::stable_sort(all.begin(), all.end(),
                     [](const Hypothesis& a, const Hypothesis& b) { return a.score > b.score; });
    if (n_best > 0 && all.size() > n_best) all.resize(n_best);
  }
  return gathered;
}

SamplingStreams::SamplingStreams(std::span<const std::uint64_t> streams)
    : lengths_(streams.size(), 1) {
  constexpr std::uint64_t kPart = 0xffff;
  for (const std::uint64_t stream : streams)
    for (int shift = 0; shift < 64; shift += 16)
      numbers_.push_back(static_cast<float>(stream >> shift & kPart));
}

Batch SamplingStreams::added_to(Batch batch) {
  inputs_.assign(batch.inputs.begin(), batch.inputs.end());
  inputs_.push_back({.name = kSamplingStreams, .lengths = lengths_, .numbers = numbers_});
  batch.inputs = inputs_;
  return batch;
}

}  // namespace fuselage
