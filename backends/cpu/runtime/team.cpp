#include "backends/cpu/runtime/team.h"

#include <fmt/format.h>

#include <system_error>
#include <utility>

#include "fuselage/base/error.h"

namespace fuselage::cpu {
namespace {

// About a millisecond: longer than the single-threaded parts of a step.
constexpr int kLooks = 40000;

/// Spin-wait hint: yields the core to its other hardware thread.
void pause() {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  asm volatile("yield");
#endif
}

/// Waits until `value` differs from `old`: spins for a while, then sleeps.
void await_change(const std::atomic<std::uint32_t>& value, std::uint32_t old) {
  for (int i = 0; i < kLooks; ++i) {
    if (value.load(std::memory_order_acquire) != old) return;
    pause();
  }
  value.wait(old, std::memory_order_acquire);
}

}  // namespace

Team::Team(std::size_t size) : claims_(size) {
  try {
    for (std::size_t part = 1; part < size; ++part)
      threads_.emplace_back([this, part] { serve(part); });
  } catch (const std::system_error& error) {
    dismiss();
    throw Error(
        fmt::format("cannot start {} threads: {}; use fewer threads per sentence or fewer workers",
                    size, error.code().message()));
  }
}

Team::~Team() { dismiss(); }

void Team::dismiss() {
  dismissed_.store(true, std::memory_order_relaxed);
  round_.fetch_add(1, std::memory_order_release);
  round_.notify_all();
  for (std::thread& thread : threads_) thread.join();
}

/// Returns true to the first caller while the job is running; the job then waits for that part.
bool Team::claim(std::size_t part, std::uint32_t round) {
  std::uint32_t before = round - 1;
  return claims_[part].round.compare_exchange_strong(before, round, std::memory_order_acq_rel);
}

void Team::do_part(std::size_t part) {
  try {
    job_.call(job_.context, part);
  } catch (...) {
    const std::lock_guard lock(mutex_);
    if (!error_) error_ = std::current_exception();
  }
  if (unended_.fetch_sub(1, std::memory_order_acq_rel) == 1) unended_.notify_one();
}

void Team::serve(std::size_t part) {
  std::uint32_t round = 0;
  while (true) {
    await_change(round_, round);
    round = round_.load(std::memory_order_acquire);
    if (dismissed_.load(std::memory_order_relaxed)) return;
    if (claim(part, round)) do_part(part);
  }
}

void Team::run(const Job& job) {
  job_ = job;
  unended_.store(static_cast<std::uint32_t>(size()), std::memory_order_relaxed);
  const std::uint32_t round = round_.fetch_add(1, std::memory_order_release) + 1;
  round_.notify_all();
  for (std::size_t part = 0; part < size(); ++part)
    if (claim(part, round)) do_part(part);
  while (const std::uint32_t left = unended_.load(std::memory_order_acquire))
    await_change(unended_, left);
  if (error_) std::rethrow_exception(std::exchange(error_, nullptr));
}

}  // namespace fuselage::cpu
