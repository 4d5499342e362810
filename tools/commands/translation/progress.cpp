#include "tools/commands/translation/progress.h"

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

Progress::Progress(const Options& options) : options_(options) {
  shown_ = !options.quiet && ::isatty(STDERR_FILENO) == 1 && !dumb_terminal();
  logged_ = !options.quiet && !shown_ && options.log_seconds > 0;
  colored_ = shown_ && !is_set("NO_COLOR");
}

void Progress::add_row(std::size_t words, std::uint64_t bytes) {
  if (lines_ == 0) first_bytes_ = bytes;
  add_at(words, bytes);
}

void Progress::add_at(std::size_t words, std::uint64_t bytes) {
  ++lines_;
  words_ += words;
  bytes_ = bytes;
  if (!shown_ && !logged_) return;
  const auto since = Clock::now() - last_drawn_;
  if (shown_ ? since >= kRedrawInterval
             : since >= std::chrono::duration<double>(options_.log_seconds))
    draw();
}

void Progress::draw() {
  last_drawn_ = Clock::now();
  const std::string line = text(seconds_since(start_));
  if (logged_) return write_diagnostic(fmt::format("fuselage: {}\n", line));
  drawn_ = true;
  write_diagnostic(
      fmt::format("\r{}{}{}\x1b[K", colored_ ? "\x1b[2m" : "", line, colored_ ? "\x1b[0m" : ""));
}

std::string Progress::text(double seconds) const {
  const double speed = static_cast<double>(words_) / std::max(seconds, 1e-3);
  std::string line = fmt::format("{} lines, {:.0f} {}/s", lines_, speed, options_.unit);
  if (options_.total_bytes > first_bytes_ && bytes_ > first_bytes_) {
    const auto total = static_cast<double>(options_.total_bytes);
    const auto done = static_cast<double>(bytes_), first = static_cast<double>(first_bytes_);
    const double part = std::min(1.0, (done - first) / (total - first));
    line += fmt::format(", {:.0f} %, {} left", 100 * std::min(1.0, done / total),
                        duration(seconds * (1 - part) / part));
  }
  return line + cost(seconds);
}

/// ", 0.52 for a million words", or nothing.
std::string Progress::cost(double seconds) const {
  if (options_.price_per_hour <= 0 || words_ == 0) return "";
  return fmt::format(", {:.3g} for a million {}",
                     options_.price_per_hour * seconds / 3600 * 1e6 / static_cast<double>(words_),
                     options_.unit);
}

void Progress::clear() {
  if (drawn_) write_diagnostic("\r\x1b[K");
  drawn_ = false;
}

void Progress::finish() {
  clear();
  if (!shown_ && !logged_ && (options_.quiet || options_.price_per_hour <= 0)) return;
  const double seconds = seconds_since(start_);
  write_diagnostic(fmt::format(
      "{}{} lines in {:.1f} s, {:.1f} lines/s, {:.0f} {}/s{}\n", shown_ ? "" : "fuselage: ", lines_,
      seconds, static_cast<double>(lines_) / std::max(seconds, 1e-3),
      static_cast<double>(words_) / std::max(seconds, 1e-3), options_.unit, cost(seconds)));
}

}  // namespace fuselage
