#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace fuselage {

/// A progress line on standard error: the completed share of a job, its speed, the remaining time
/// and the cost. It is shown on a terminal; elsewhere only if it is asked for.
class Progress {
 public:
  struct Options {
    std::uint64_t total_bytes = 0;  ///< size of the input; 0: unknown
    /// Never show the line, for example when the output goes to a terminal, where the line would be
    /// among the output lines.
    bool quiet = false;
    std::string_view unit = "tokens";
    double price_per_hour = 0;  ///< of the machine; 0: unknown
    /// Seconds between lines where standard error is no terminal; 0: none there.
    double log_seconds = 0;
  };

  explicit Progress(const Options& options);
  Progress(std::uint64_t total_bytes, bool quiet)
      : Progress(Options{.total_bytes = total_bytes, .quiet = quiet}) {}
  ~Progress() { clear(); }
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  /// Counts a completed line of the input.
  void add(std::size_t words, std::size_t bytes) { add_at(words, bytes_ + bytes); }

  /// The same for a line up to which the input has so many bytes. What is before the first of these
  /// lines was done before.
  void add_row(std::size_t words, std::uint64_t bytes);

  /// Replaces the line by a summary.
  void finish();

 private:
  using Clock = std::chrono::steady_clock;

  void add_at(std::size_t words, std::uint64_t bytes);
  std::string text(double seconds) const;
  std::string cost(double seconds) const;
  void draw();
  void clear();

  Options options_;
  bool shown_ = false, logged_ = false, colored_ = false, drawn_ = false;
  std::uint64_t lines_ = 0, words_ = 0, bytes_ = 0, first_bytes_ = 0;
  Clock::time_point start_ = Clock::now();
  Clock::time_point last_drawn_ = start_;
};

}  // namespace fuselage
