#pragma once

#include <cstddef>
#include <span>
#include <vector>

namespace fuselage {

/// How lines are gathered into batches, named as marian-decoder's options.
struct BatchOptions {
  std::size_t mini_batch = 1;        ///< sentences in a batch
  std::size_t mini_batch_words = 0;  ///< words in a batch, counted with padding; 0: by sentences
  std::size_t maxi_batch = 1;        ///< batches that are read, and sorted, together
  bool sort_by_length = false;

  /// Lines that are read together.
  std::size_t maxi_lines() const { return mini_batch * maxi_batch; }
};

/// Cuts items of these lengths into batches of item numbers. When they are sorted, it is the
/// longest first, and equal ones in their order.
std::vector<std::vector<std::size_t>> make_batches(std::span<const std::size_t> lengths,
                                                   const BatchOptions& options);

}  // namespace fuselage
