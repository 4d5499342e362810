#include "tools/commands/progress.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <string_view>

#include "tools/options/files.h"

namespace fuselage {
namespace {

constexpr std::chrono::milliseconds kRedrawInterval{200};

bool is_set(const char* variable) {
  const char* value = std::getenv(variable);
  return value != nullptr && *value != '\0';
}

bool dumb_terminal() {
  const char* term = std::getenv("TERM");
  return term == nullptr || std::string_view(term) == "dumb";
}

std::string duration(double seconds) {
  const auto whole = std::llround(seconds);
  if (whole < 3600) return fmt::format("{}:{:02}", whole / 60, whole % 60);
  return fmt::format("{}:{:02}:{:02}", whole / 3600, whole / 60 % 60, whole % 60);
}

double seconds_since(std::chrono::steady_clock::time_point start) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

}  // namespace

Progress::Progress(std::uint64_t total_bytes, bool quiet) : total_bytes_(total_bytes) {
  shown_ = !quiet && ::isatty(STDERR_FILENO) == 1 && !dumb_terminal();
  colored_ = shown_ && !is_set("NO_COLOR");
}

void Progress::add(std::size_t words, std::size_t bytes) {
  ++lines_;
  words_ += words;
  bytes_ += bytes;
  if (!shown_ || Clock::now() - last_drawn_ < kRedrawInterval) return;
  last_drawn_ = Clock::now();
  drawn_ = true;
  const std::string line = text(seconds_since(start_));
  write_diagnostic(
      fmt::format("\r{}{}{}\x1b[K", colored_ ? "\x1b[2m" : "", line, colored_ ? "\x1b[0m" : ""));
}

std::string Progress::text(double seconds) const {
  const double speed = static_cast<double>(words_) / std::max(seconds, 1e-3);
  std::string line = fmt::format("{} lines, {:.0f} tokens/s", lines_, speed);
  if (total_bytes_ == 0 || bytes_ == 0) return line;
  const double part =
      std::min(1.0, static_cast<double>(bytes_) / static_cast<double>(total_bytes_));
  return line +
         fmt::format(", {:.0f} %, {} left", 100 * part, duration(seconds * (1 - part) / part));
}

void Progress::clear() {
  if (drawn_) write_diagnostic("\r\x1b[K");
  drawn_ = false;
}

void Progress::finish() {
  clear();
  if (!shown_) return;
  const double seconds = seconds_since(start_);
  write_diagnostic(fmt::format("{} lines in {:.1f} s, {:.1f} lines/s, {:.0f} tokens/s\n", lines_,
                               seconds, static_cast<double>(lines_) / std::max(seconds, 1e-3),
                               static_cast<double>(words_) / std::max(seconds, 1e-3)));
}

}  // namespace fuselage
