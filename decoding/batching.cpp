#include "decoding/batching.h"

#include <algorithm>
#include <numeric>

namespace fuselage {

std::vector<std::vector<std::size_t>> make_batches(std::span<const std::size_t> lengths,
                                                   const BatchOptions& options) {
  std::vector<std::size_t> order(lengths.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  if (options.sort_by_length)
    std::stable_sort(order.begin(), order.end(),
                     [&](std::size_t a, std::size_t b) { return lengths[a] > lengths[b]; });
  std::vector<std::vector<std::size_t>> batches;
  std::size_t longest = 0;
  for (const std::size_t item : order) {
    const std::size_t count = batches.empty() ? 0 : batches.back().size();
    const std::size_t padded = std::max(longest, lengths[item]) * (count + 1);
    const bool full = options.mini_batch_words > 0 ? padded > options.mini_batch_words
                                                   : count >= options.mini_batch;
    if (batches.empty() || full) {
      batches.emplace_back();
      longest = 0;
    }
    batches.back().push_back(item);
    longest = std::max(longest, lengths[item]);
  }
  return batches;
}

}  // namespace fuselage
