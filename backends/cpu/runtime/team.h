#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

namespace fuselage::cpu {

/// Threads that do parts of one job together, many times a millisecond. Between jobs they look out
/// for the next one for a while, and then sleep. One thread at a time gives jobs, and takes part.
class Team {
 public:
  /// A team of `size` with the caller, at least 1. Throws Error when the system does not give so
  /// many threads.
  explicit Team(std::size_t size);
  ~Team();
  Team(const Team&) = delete;
  Team& operator=(const Team&) = delete;

  std::size_t size() const { return threads_.size() + 1; }

  /// Calls f(part) for all parts from 0 to size() - 1, and returns when all have ended. A part is
  /// always its own thread's, unless that comes too late, as where others have its processor: then
  /// the caller does it. Throws the first error that a part threw.
  template <typename F>
  void run(const F& f) {
    run({[](const void* context, std::size_t part) { (*static_cast<const F*>(context))(part); },
         &f});
  }

 private:
  struct Job {
    void (*call)(const void* context, std::size_t part) = nullptr;
    const void* context = nullptr;
  };

  void run(const Job& job);
  void serve(std::size_t part);
  bool claim(std::size_t part, std::uint32_t round);
  void do_part(std::size_t part);
  void dismiss();

  /// Number of the newest job of which someone does the part.
  struct alignas(64) Claim {
    std::atomic<std::uint32_t> round{0};
  };

  // Each on a cache line of its own, so that who waits for one is not disturbed by the other.
  alignas(64) std::atomic<std::uint32_t> round_{0};    ///< number of the newest job
  alignas(64) std::atomic<std::uint32_t> unended_{0};  ///< parts of it
  alignas(64) Job job_;
  std::vector<Claim> claims_;  ///< by part
  std::atomic<bool> dismissed_{false};
  std::mutex mutex_;
  std::exception_ptr error_;
  std::vector<std::thread> threads_;
};

}  // namespace fuselage::cpu
