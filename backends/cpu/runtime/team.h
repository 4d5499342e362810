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

/// A thread team for fork-join jobs of a few microseconds. Between jobs threads spin for a while,
/// then sleep. One thread at a time submits jobs and takes part in them.
class Team {
 public:
  /// A team of `size` threads, at least 1, the caller included. Throws Error if the system cannot
  /// create the threads.
  explicit Team(std::size_t size);
  ~Team();
  Team(const Team&) = delete;
  Team& operator=(const Team&) = delete;

  std::size_t size() const { return threads_.size() + 1; }

  /// Calls f(part) for all parts from 0 to size() - 1 and waits for them. Each part runs on its own
  /// thread; if that thread is late, for example because its processor is busy, the caller runs the
  /// part. Rethrows the first exception of a part.
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

  /// Number of the newest job whose part is claimed.
  struct alignas(64) Claim {
    std::atomic<std::uint32_t> round{0};
  };

  // Each on its own cache line, to avoid false sharing.
  alignas(64) std::atomic<std::uint32_t> round_{0};    ///< number of the newest job
  alignas(64) std::atomic<std::uint32_t> unended_{0};  ///< unfinished parts of the newest job
  alignas(64) Job job_;
  std::vector<Claim> claims_;  ///< by part
  std::atomic<bool> dismissed_{false};
  std::mutex mutex_;
  std::exception_ptr error_;
  std::vector<std::thread> threads_;
};

}  // namespace fuselage::cpu
