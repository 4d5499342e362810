#include "decoding/queue/queued_line.h"

namespace fuselage {

std::exception_ptr QueuedLine::refusal(std::chrono::steady_clock::time_point now) const {
  if (cancelled) return std::make_exception_ptr(Cancelled("the line was cancelled"));
  if (deadline && now > *deadline)
    return std::make_exception_ptr(
        DeadlinePassed("the line was not translated before its deadline"));
  return nullptr;
}

}  // namespace fuselage
