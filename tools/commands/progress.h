#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string>

namespace fuselage {

/// A progress line on standard error: the completed share of a job, its speed and the remaining
/// time. It is shown on a terminal only.
class Progress {
 public:
  /// `total_bytes`: size of the input; 0: unknown. `quiet`: never show the line, for example when
  /// the output goes to a terminal, where the line would be among the output lines.
  Progress(std::uint64_t total_bytes, bool quiet);
  ~Progress() { clear(); }
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  /// Counts a completed line of the input.
  void add(std::size_t words, std::size_t bytes);

  /// Replaces the line by a summary.
  void finish();

 private:
  using Clock = std::chrono::steady_clock;

  std::string text(double seconds) const;
  void clear();

  bool shown_ = false;
  bool colored_ = false;
  bool drawn_ = false;
  std::uint64_t total_bytes_;
  std::uint64_t lines_ = 0, words_ = 0, bytes_ = 0;
  Clock::time_point start_ = Clock::now();
  Clock::time_point last_drawn_ = start_;
};

}  // namespace fuselage
