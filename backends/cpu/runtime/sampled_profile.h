#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <utility>

#include "backends/cpu/runtime/runner.h"
#include "fuselage/backends/executable.h"

namespace fuselage::cpu {

/// Measures some runs of a worker's programs for a profile that workers share: all of the source
/// program, and one of several steps, whose times count for those between. So what is measured
/// costs next to nothing. Allocates nothing after the first runs.
class SampledProfile {
 public:
  /// `shared` may be null: nothing is measured.
  explicit SampledProfile(std::shared_ptr<SharedProfile> shared) : shared_(std::move(shared)) {}

  void run_source(ProgramRunner& source, RowFrame& frame) {
    if (!shared_) return source.run(frame);
    source.set_profile(&times_.source);
    source.run(frame);
    source.set_profile(nullptr);
    times_.batches = 1;
    hand_over();
  }

  void run_step(ProgramRunner& step, RowFrame& frame) {
    if (!shared_ || steps_++ % kEvery != 0) return step.run(frame);
    step.set_profile(&times_.step);
    step.run(frame);
    step.set_profile(nullptr);
    times_.steps = kEvery;
    for (NodeTime& time : times_.step) {
      time.seconds *= kEvery;
      time.runs *= kEvery;
      time.rows *= kEvery;
    }
    hand_over();
  }

 private:
  static constexpr std::uint64_t kEvery = 8;

  void hand_over() {
    shared_->add(times_);
    for (auto* const times : {&times_.source, &times_.step})
      std::fill(times->begin(), times->end(), NodeTime{});
    times_.batches = times_.steps = 0;
  }

  std::shared_ptr<SharedProfile> shared_;
  Profile times_;  ///< of the present run
  std::uint64_t steps_ = 0;
};

}  // namespace fuselage::cpu
