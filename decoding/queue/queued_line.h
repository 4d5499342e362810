#pragma once

#include <atomic>
#include <chrono>
#include <memory>
#include <optional>
#include <vector>

#include "decoding/lines/line_encoder.h"
#include "fuselage/decoding/translation_queue.h"

namespace fuselage {

/// A line of a TranslationQueue.
struct QueuedLine {
  EncodedLine line;
  TranslationQueue::Done done;
  std::optional<std::chrono::steady_clock::time_point> deadline;
  std::atomic<bool> cancelled = false;

  /// Why it is not to be translated any more; null: it is.
  std::exception_ptr refusal(std::chrono::steady_clock::time_point now) const;
};

using QueuedLines = std::vector<std::shared_ptr<QueuedLine>>;

}  // namespace fuselage
