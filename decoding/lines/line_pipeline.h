#pragma once

#include <algorithm>
#include <functional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "decoding/lines/batch_pipeline.h"
#include "decoding/lines/line_encoder.h"
#include "decoding/lines/line_reader.h"

namespace fuselage {

/// Lines of text, and how they become words.
struct LineInput {
  std::function<EncodedLine(std::string_view line, std::size_t number)> encode;
  LineSource next;
  InputReady ready = nullptr;
};

/// Encodes lines, processes them in batches on the workers, and hands the results on in input
/// order.
template <typename Result>
void run_lines(const LineInput& input, BatchFormer former,
               std::vector<typename OrderedWorkers<EncodedLine, Result>::Work> work,
               typename OrderedWorkers<EncodedLine, Result>::Sink sink) {
  std::string text;
  std::size_t number = 0;
  const auto next = [&](EncodedLine& line) {
    if (!input.next(text)) return false;
    line = input.encode(text, number++);
    return true;
  };
  const auto length = [](const EncodedLine& line) {
    std::size_t longest = line.words.size();
    for (const WordIds& words : line.further) longest = std::max(longest, words.size());
    return longest;
  };
  run_batches<EncodedLine, Result>({next, length, input.ready}, std::move(former), std::move(work),
                                   std::move(sink));
}

}  // namespace fuselage
