#include "python/bindings/translation_job.h"

#include <utility>

using fuselage::LineGuide;
using fuselage::Translation;
using fuselage::Translator;

namespace {

// Enough to keep batches full while Python code reads and writes.
constexpr std::size_t kMaxLines = 4096, kMaxReady = 4096;

struct Cancelled {};

}  // namespace

TranslationJob::TranslationJob(const Translator& translator)
    : thread_([this, &translator] { run(translator); }) {}

std::unique_lock<std::mutex> TranslationJob::lock() const {
  process_.expect_this("translation");
  return std::unique_lock(mutex_);
}

void TranslationJob::add(Line line) {
  const auto locked = lock();
  lines_.push_back(std::move(line));
  arrived_.notify_all();
}

void TranslationJob::end() {
  const auto locked = lock();
  ended_ = true;
  arrived_.notify_all();
}

void TranslationJob::cancel() {
  const auto locked = lock();
  cancelled_ = ended_ = true;
  lines_.clear();
  arrived_.notify_all();
}

void TranslationJob::close() {
  if (!thread_.joinable()) return;
  if (!process_.is_this()) return thread_.detach();
  cancel();
  thread_.join();
}

bool TranslationJob::is_roomy() const {
  return lines_.size() < kMaxLines && ready_.size() < kMaxReady;
}

bool TranslationJob::has_room() const {
  const auto locked = lock();
  return is_roomy();
}

bool TranslationJob::wait(std::chrono::milliseconds timeout, bool for_room) const {
  auto locked = lock();
  return changed_.wait_for(
      locked, timeout, [&] { return !ready_.empty() || returned_ || (for_room && is_roomy()); });
}

std::vector<Translation> TranslationJob::take() {
  const auto locked = lock();
  if (ready_.empty() && error_) std::rethrow_exception(error_);
  return std::exchange(ready_, {});
}

bool TranslationJob::is_finished() const {
  const auto locked = lock();
  return returned_ && ready_.empty() && !error_;
}

void TranslationJob::run(const Translator& translator) {
  std::exception_ptr error;
  try {
    translator.translate(
        [this](std::string& text, LineGuide& guide) { return next_line(text, guide); },
        [this](std::size_t, Translation&& translation) { put(std::move(translation)); },
        [this](std::chrono::milliseconds timeout) { return has_line_within(timeout); });
  } catch (const Cancelled&) {
  } catch (...) {
    error = std::current_exception();
  }
  const std::lock_guard lock(mutex_);
  error_ = error;
  returned_ = true;
  changed_.notify_all();
}

bool TranslationJob::next_line(std::string& text, LineGuide& guide) {
  std::unique_lock lock(mutex_);
  arrived_.wait(lock, [&] { return !lines_.empty() || ended_; });
  if (cancelled_ || lines_.empty()) return false;
  text = std::move(lines_.front().text);
  guide = std::move(lines_.front().guide);
  lines_.pop_front();
  changed_.notify_all();
  return true;
}

bool TranslationJob::has_line_within(std::chrono::milliseconds timeout) {
  std::unique_lock lock(mutex_);
  return arrived_.wait_for(lock, timeout, [&] { return !lines_.empty() || ended_; });
}

void TranslationJob::put(Translation&& translation) {
  const std::lock_guard lock(mutex_);
  if (cancelled_) throw Cancelled();
  ready_.push_back(std::move(translation));
  changed_.notify_all();
}
