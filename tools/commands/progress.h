#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string>

namespace fuselage {

/// A line on standard error that tells how far a job is, how fast it goes and when it ends. It
/// shows only where a person looks: on a terminal.
class Progress {
 public:
  /// `total_bytes` of input are to be worked off; 0: not known. `quiet`: never show it, as when the
  /// output goes to a terminal, where it would stand between the lines.
  Progress(std::uint64_t total_bytes, bool quiet);
  ~Progress() { clear(); }
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  /// One line of the input is done.
  void add(std::size_t words, std::size_t bytes);

  /// Takes the line away and leaves a summary in its place.
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
