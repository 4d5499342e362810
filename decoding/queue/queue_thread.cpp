#include "decoding/queue/queue_thread.h"

#include <algorithm>
#include <utility>

#include "fuselage/base/error.h"

namespace fuselage {
namespace {

using Clock = std::chrono::steady_clock;

double seconds_now() {
  return std::chrono::duration<double>(Clock::now().time_since_epoch()).count();
}

}  // namespace

QueueThread::QueueThread(BeamSearch& search, const LineSearches& lines, WaitingLines& waiting,
                         QueueCounts& counts, Size size)
    : search_(search),
      lines_(lines),
      waiting_(waiting),
      counts_(counts),
      size_(size),
      policy_(size.refill, size.places) {}

void QueueThread::run() {
  while (!waiting_.is_closed()) {
    if (size_.by_batch) {
      run_batch();
      continue;
    }
    top_up();
    drop_refused();
    if (!running_.empty()) step();
  }
  fail_all(std::make_exception_ptr(Cancelled("the queue was closed")));
}

void QueueThread::run_batch() {
  const QueuedLines lines = still_wanted(waiting_.take(size_.places, /*wait=*/true));
  if (lines.empty()) return;
  std::vector<EncodedLine> batch;
  for (const auto& line : lines) batch.push_back(line->line);
  std::vector<Translation> results;
  std::exception_ptr error;
  try {
    results = lines_.batch(search_, batch);
  } catch (...) {
    error = std::current_exception();
  }
  results.resize(lines.size());
  for (std::size_t i = 0; i < lines.size(); ++i) finish(*lines[i], std::move(results[i]), error);
}

/// Begins waiting lines in free places. A line that does not fit waits, and those behind it
/// wait with it.
void QueueThread::top_up() {
  const std::size_t free = size_.places - running_.size();
  if (free == 0) return;
  if (!running_.empty() && (free < size_.together || !policy_.is_due(free))) return;
  QueuedLines lines = still_wanted(waiting_.take(free, /*wait=*/running_.empty()));
  if (lines.empty()) return;
  if (running_.empty() && !make_room_for(*lines.front())) lines.erase(lines.begin());
  std::vector<std::int32_t> places;
  for (const auto& line : lines) {
    const auto place = reserve(*line);
    if (!place) break;
    places.push_back(*place);
  }
  const auto fitting = lines.begin() + std::ssize(places);
  if (fitting != lines.end()) waiting_.put_back(QueuedLines(fitting, lines.end()));
  lines.erase(fitting, lines.end());
  if (!lines.empty()) admit(std::move(lines), std::move(places));
}

void QueueThread::open(std::int64_t source_words, std::optional<std::size_t> prefix) {
  store_ = {};
  while (true) {
    try {
      search_.open(static_cast<std::int32_t>(size_.places), source_words, prefix);
      store_ = {source_words, prefix};
      return;
    } catch (const OutOfMemory&) {
      if (size_.places == 1) throw;
      size_.places = (size_.places + 1) / 2;
      policy_ = RefillPolicy(size_.refill, size_.places);
    }
  }
}

/// While nothing runs: makes a store that is large enough for a line. False: there is no memory for
/// it, and the line is finished with the error.
bool QueueThread::make_room_for(const QueuedLine& line) {
  const auto words = static_cast<std::int64_t>(lines_.words(line.line));
  const SearchGuide& guide = line.line.guide;
  const auto prefix = guide.empty() ? std::nullopt : std::optional(guide.prefix.size());
  const bool fits = words <= store_.source_words && prefix <= store_.prefix;
  if (fits && store_.source_words > 0) return true;
  const std::int64_t usual = static_cast<std::int64_t>(size_.places) * size_.average_words;
  try {
    open(std::max({usual, words, store_.source_words}), std::max(prefix, store_.prefix));
    return true;
  } catch (...) {
    finish(line, {}, std::current_exception());
    return false;
  }
}

std::optional<std::int32_t> QueueThread::reserve(const QueuedLine& line) {
  return search_.reserve(static_cast<std::int64_t>(lines_.words(line.line)), line.line.guide);
}

void QueueThread::admit(QueuedLines lines, std::vector<std::int32_t> places) {
  const double start = seconds_now();
  std::vector<EncodedLine> encoded;
  std::size_t words = 0, longest = 0;
  for (const auto& line : lines) {
    const std::size_t length = lines_.words(line->line);
    words += length;
    longest = std::max(longest, length);
    encoded.push_back(line->line);
  }
  try {
    lines_.admit(search_, encoded, places);
  } catch (...) {
    if (lines.size() > 1) {
      admit_one_by_one(lines, places);
      return;
    }
    search_.drop(places.front());
    finish(*lines.front(), {}, std::current_exception());
    return;
  }
  policy_.encoded(words, longest, seconds_now() - start);
  for (std::size_t i = 0; i < lines.size(); ++i)
    running_.push_back({places[i], std::move(lines[i])});
}

/// After an error of several lines together: one of them may be the cause, or want of memory.
void QueueThread::admit_one_by_one(const QueuedLines& lines, std::span<const std::int32_t> places) {
  for (const std::int32_t place : places) search_.drop(place);
  for (const auto& line : lines) admit({line}, {reserve(*line).value()});
}

/// Finishes lines that are not to be translated any more, also those that wait.
void QueueThread::drop_refused() {
  const auto now = Clock::now();
  still_wanted(waiting_.take_expired(now));
  std::erase_if(running_, [&](const Running& running) {
    const std::exception_ptr refusal = running.line->refusal(now);
    if (!refusal) return false;
    search_.drop(running.place);
    finish(*running.line, {}, refusal);
    return true;
  });
}

void QueueThread::step() {
  ++counts_.steps;
  counts_.sentence_steps += running_.size();
  try {
    const double start = seconds_now();
    const auto ended = search_.step();
    policy_.stepped(size_.places - running_.size(), seconds_now() - start);
    for (const std::int32_t place : ended) {
      const auto at = std::ranges::find(running_, place, &Running::place);
      const std::shared_ptr<QueuedLine> line = std::move(at->line);
      running_.erase(at);
      finish_search(*line, search_.take(place));
    }
  } catch (...) {
    fail_all(std::current_exception());
    store_ = {};
  }
}

void QueueThread::finish_search(const QueuedLine& line, NBest hypotheses) {
  Translation translation;
  std::exception_ptr error;
  try {
    translation = lines_.translation(line.line, std::move(hypotheses));
  } catch (...) {
    error = std::current_exception();
  }
  finish(line, std::move(translation), error);
}

void QueueThread::fail_all(const std::exception_ptr& error) {
  for (const Running& running : std::exchange(running_, {})) finish(*running.line, {}, error);
}

void QueueThread::finish(const QueuedLine& line, Translation&& translation,
                         const std::exception_ptr& error) {
  if (!error) ++counts_.translated;
  line.done(std::move(translation), error);
  waiting_.finished(1);
}

QueuedLines QueueThread::still_wanted(QueuedLines lines) {
  const auto now = Clock::now();
  std::erase_if(lines, [&](const std::shared_ptr<QueuedLine>& line) {
    const std::exception_ptr refusal = line->refusal(now);
    if (refusal) finish(*line, {}, refusal);
    return refusal != nullptr;
  });
  return lines;
}

}  // namespace fuselage
