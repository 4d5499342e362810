#pragma once

#include <vector_types.h>

#include <boost/context/fiber.hpp>
#include <boost/context/pooled_fixedsize_stack.hpp>
#include <cstdint>
#include <functional>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "emulated_cuda/threads.h"

namespace emulated_cuda {

/// The state of a thread of a block.
struct Wait {
  enum class Kind : std::uint8_t { nothing, block, warp };
  Kind kind = Kind::nothing;
  Exchange operation;
  std::uint64_t bits = 0;    ///< the lane's value
  std::uint32_t source = 0;  ///< lane to read from
};

struct Fiber;

struct Thread {
  enum class State : std::uint8_t { runnable, waiting, finished };
  uint3 index{};
  std::uint32_t number = 0;  ///< in the block
  State state = State::runnable;
  Wait wait;
  std::uint64_t received = 0;
  Fiber* fiber = nullptr;  ///< null before the start
};

/// Runs the threads of a block as fibers, one block after the other. When a thread waits or ends, a
/// random one continues, and half of the blocks favour some warps, so that missing synchronization
/// gives wrong results. A thread that ends without waiting passes its fiber on.
class Block {
 public:
  Block();
  ~Block();

  /// Runs `thread` as each thread of the block, in an order drawn by `random`.
  void run(const dim3& size, const std::function<void()>& thread, std::mt19937_64& random);

  void synchronize(bool predicate, fuselage::CodeLocation where);
  std::uint64_t exchange(const Exchange& operation, std::uint64_t bits, std::uint32_t source);

  /// Lets the running thread sleep until wake(), which it may be without a change that concerns it.
  void sleep(fuselage::CodeLocation where);
  void wake();

  Votes votes() const { return votes_; }
  Thread& current() { return *current_; }

 private:
  void prepare(const dim3& size);
  void make_runnable(Thread& thread);
  Thread* pick();
  Fiber& idle_fiber();
  void serve(Fiber& fiber);
  void enter(Thread& thread);
  void finish(Thread& thread);
  void pause(Thread& thread);
  void release_block();
  void complete_exchange(std::uint32_t warp, const Exchange& operation);
  bool all_arrived(const Thread& thread) const;
  void check_warp(const Thread& thread) const;
  void check_block(const Thread& thread) const;
  [[noreturn]] void fail_between(const Thread& thread, const Thread& other) const;
  std::uint32_t lanes(std::uint32_t warp) const;

  std::vector<Thread> threads_;
  std::vector<std::vector<Thread*>> runnable_;  ///< by warp
  std::vector<Thread*> sleeping_;
  std::vector<std::uint32_t> warps_;  ///< order of warps, for blocks that favour some
  bool favours_ = false;
  std::uint32_t finished_ = 0;
  std::uint32_t at_barrier_ = 0;
  const Thread* first_at_barrier_ = nullptr;
  std::uint32_t votes_for_ = 0;
  Votes votes_;
  Thread* current_ = nullptr;
  Thread* next_ = nullptr;  ///< thread to resume, chosen by a thread that suspended itself
  const std::function<void()>* body_ = nullptr;
  std::mt19937_64* random_ = nullptr;
  boost::context::pooled_fixedsize_stack stacks_;
  std::vector<std::unique_ptr<Fiber>> fibers_;
  std::vector<Fiber*> idle_;
};

/// The block that the calling host thread runs.
Block& running_block();

}  // namespace emulated_cuda
