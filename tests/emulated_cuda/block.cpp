#include "block.h"

#include <fmt/core.h>

#include <algorithm>
#include <numeric>
#include <string_view>
#include <utility>

#include "failure.h"

constinit thread_local uint3 threadIdx{};
constinit thread_local uint3 blockIdx{};
constinit thread_local dim3 blockDim{};
constinit thread_local dim3 gridDim{};

namespace emulated_cuda {
namespace {

constexpr std::uint32_t kLanes = 32;
constexpr std::uint32_t kEveryLane = kLanes;  // as a source: the votes of all lanes
constexpr std::size_t kStackBytes = std::size_t{128} << 10;

// Compares lines only, for speed: calls in the same line of two files are not distinguished.
bool same_call(const Exchange& a, const Exchange& b) {
  return a.mask == b.mask && a.where.line() == b.where.line() &&
         (a.name == b.name || std::string_view(a.name) == b.name);
}

bool names(const Exchange& operation, std::uint32_t lane) {
  return (operation.mask >> lane & 1u) != 0;
}

std::string describe(const Thread& thread) {
  const auto [x, y, z] = thread.index;
  const std::string name = fmt::format("thread ({}, {}, {})", x, y, z);
  if (thread.state == Thread::State::finished) return name + " has ended";
  const Exchange& call = thread.wait.operation;
  const std::string lanes =
      thread.wait.kind == Wait::Kind::warp ? fmt::format(" of lanes {:08x}", call.mask) : "";
  return fmt::format("{} waits in {}{} at {}:{}", name, call.name, lanes, call.where.file_name(),
                     call.where.line());
}

}  // namespace

struct Fiber {
  boost::context::fiber self;    ///< continuation of the thread
  boost::context::fiber caller;  ///< continuation of the block
};

Block::Block() : stacks_(kStackBytes) {}
Block::~Block() = default;

void Block::run(const dim3& size, const std::function<void()>& thread, std::mt19937_64& random) {
  body_ = &thread;
  random_ = &random;
  prepare(size);
  while (Thread* chosen = std::exchange(next_, nullptr)) {
    Fiber& fiber = chosen->fiber ? *chosen->fiber : idle_fiber();
    if (!chosen->fiber) chosen->fiber = &fiber;
    current_ = chosen;
    fiber.self = std::move(fiber.self).resume();
    if (!next_) next_ = pick();
  }
  if (finished_ == threads_.size()) return;
  if (!sleeping_.empty()) fail_between(*sleeping_.front(), *sleeping_.front());
  const auto waiting = std::find_if(threads_.begin(), threads_.end(), [](const Thread& t) {
    return t.state == Thread::State::waiting;
  });
  fail_between(*waiting, *waiting);
}

void Block::prepare(const dim3& size) {
  const std::uint32_t count = size.x * size.y * size.z;
  threads_.assign(count, Thread{});
  warps_.resize((count + kLanes - 1) / kLanes);
  std::iota(warps_.begin(), warps_.end(), 0);
  std::shuffle(warps_.begin(), warps_.end(), *random_);
  favours_ = (*random_)() % 2 == 0;
  runnable_.assign(warps_.size(), {});
  sleeping_.clear();
  for (std::uint32_t i = 0; i < count; ++i) {
    threads_[i].number = i;
    threads_[i].index = {i % size.x, i / size.x % size.y, i / size.x / size.y};
    make_runnable(threads_[i]);
  }
  finished_ = at_barrier_ = votes_for_ = 0;
  next_ = pick();
}

void Block::make_runnable(Thread& thread) {
  thread.state = Thread::State::runnable;
  runnable_[thread.number / kLanes].push_back(&thread);
}

Thread* Block::pick() {
  const std::size_t start = favours_ ? 0 : (*random_)() % warps_.size();
  for (std::size_t i = 0; i < warps_.size(); ++i) {
    std::vector<Thread*>& lanes = runnable_[warps_[(start + i) % warps_.size()]];
    if (lanes.empty()) continue;
    std::swap(lanes[(*random_)() % lanes.size()], lanes.back());
    Thread* thread = lanes.back();
    lanes.pop_back();
    return thread;
  }
  return nullptr;
}

Fiber& Block::idle_fiber() {
  if (!idle_.empty()) {
    Fiber* fiber = idle_.back();
    idle_.pop_back();
    return *fiber;
  }
  Fiber& fiber = *fibers_.emplace_back(std::make_unique<Fiber>());
  fiber.self = boost::context::fiber(std::allocator_arg, stacks_,
                                     [this, &fiber](boost::context::fiber&& caller) {
                                       fiber.caller = std::move(caller);
                                       serve(fiber);
                                       return std::move(fiber.caller);
                                     });
  return fiber;
}

// Runs threads without a fiber until a thread with a fiber is chosen.
void Block::serve(Fiber& fiber) {
  for (;;) {
    while (!next_) {
      enter(*current_);
      (*body_)();
      finish(*current_);
      next_ = pick();
      if (!next_ || next_->fiber) break;
      current_ = std::exchange(next_, nullptr);
      current_->fiber = &fiber;
    }
    idle_.push_back(&fiber);
    fiber.caller = std::move(fiber.caller).resume();
  }
}

void Block::enter(Thread& thread) {
  current_ = &thread;
  threadIdx = thread.index;
}

void Block::finish(Thread& thread) {
  thread.state = Thread::State::finished;
  ++finished_;
  check_warp(thread);
  check_block(thread);
}

// The fiber is suspended here until the thread is chosen again.
void Block::pause(Thread& thread) {
  Fiber& fiber = *thread.fiber;
  fiber.caller = std::move(fiber.caller).resume();
  enter(thread);
}

void Block::synchronize(bool predicate, fuselage::CodeLocation where) {
  Thread& thread = *current_;
  thread.state = Thread::State::waiting;
  thread.wait = {.kind = Wait::Kind::block, .operation = {"__syncthreads", 0, where}};
  check_warp(thread);
  check_block(thread);
  if (at_barrier_ == 0) first_at_barrier_ = &thread;
  votes_for_ += predicate;
  if (++at_barrier_ == threads_.size()) release_block();
  pause(thread);
}

// A sleeping thread counts as running: it may still come to a barrier that others wait at.
void Block::sleep(fuselage::CodeLocation where) {
  Thread& thread = *current_;
  thread.wait.operation = {"a wait for a barrier in shared memory", 0, where};
  sleeping_.push_back(&thread);
  pause(thread);
  thread.wait = {};
}

void Block::wake() {
  for (Thread* thread : sleeping_) make_runnable(*thread);
  sleeping_.clear();
}

void Block::release_block() {
  votes_ = {std::exchange(votes_for_, 0), std::exchange(at_barrier_, 0)};
  for (Thread& thread : threads_) {
    thread.wait = {};
    make_runnable(thread);
  }
}

std::uint64_t Block::exchange(const Exchange& operation, std::uint64_t bits, std::uint32_t source) {
  Thread& thread = *current_;
  thread.state = Thread::State::waiting;
  thread.wait = {Wait::Kind::warp, operation, bits, source};
  check_warp(thread);
  if (all_arrived(thread)) complete_exchange(thread.number / kLanes, operation);
  pause(thread);
  return thread.received;
}

bool Block::all_arrived(const Thread& thread) const {
  const std::uint32_t first = thread.number / kLanes * kLanes;
  for (std::uint32_t lane = 0; lane < kLanes; ++lane)
    if (names(thread.wait.operation, lane) &&
        threads_[first + lane].state != Thread::State::waiting)
      return false;
  return true;
}

void Block::complete_exchange(std::uint32_t warp, const Exchange& operation) {
  Thread* lanes = &threads_[warp * kLanes];
  std::uint64_t votes = 0;
  for (std::uint32_t lane = 0; lane < kLanes; ++lane)
    if (names(operation, lane) && lanes[lane].wait.bits != 0) votes |= std::uint64_t{1} << lane;
  for (std::uint32_t lane = 0; lane < kLanes; ++lane) {
    if (!names(operation, lane)) continue;
    const std::uint32_t source = lanes[lane].wait.source;
    lanes[lane].received = source == kEveryLane ? votes : lanes[source].wait.bits;
  }
  for (std::uint32_t lane = 0; lane < kLanes; ++lane) {
    if (!names(operation, lane)) continue;
    lanes[lane].wait = {};
    make_runnable(lanes[lane]);
  }
}

std::uint32_t Block::lanes(std::uint32_t warp) const {
  const auto count = static_cast<std::uint32_t>(threads_.size()) - warp * kLanes;
  return std::min(count, kLanes);
}

// Lanes of a mask must all be running or waiting at the same call.
void Block::check_warp(const Thread& thread) const {
  const std::uint32_t first = thread.number / kLanes * kLanes;
  const std::uint32_t own = thread.number - first;
  const bool exchanges = thread.wait.kind == Wait::Kind::warp;
  const std::uint32_t there = lanes(thread.number / kLanes);
  if (exchanges) {
    const std::uint32_t mask = thread.wait.operation.mask;
    const bool all_there = there == kLanes || mask >> there == 0;
    const std::uint32_t source = thread.wait.source;
    const bool has_source = source == kEveryLane || names(thread.wait.operation, source);
    if (!all_there || !names(thread.wait.operation, own) || !has_source)
      fail_between(thread, thread);
  }
  for (std::uint32_t lane = 0; lane < there; ++lane) {
    const Thread& other = threads_[first + lane];
    const bool awaits = other.wait.kind == Wait::Kind::warp && names(other.wait.operation, own);
    const bool awaited =
        exchanges && names(thread.wait.operation, lane) && other.state != Thread::State::runnable;
    if (!awaits && !awaited) continue;
    if (!exchanges || other.wait.kind != Wait::Kind::warp ||
        !same_call(thread.wait.operation, other.wait.operation))
      fail_between(thread, other);
  }
}

// While threads wait at a barrier, no other thread may end or wait at another barrier.
void Block::check_block(const Thread& thread) const {
  if (at_barrier_ != 0 && !same_call(thread.wait.operation, first_at_barrier_->wait.operation))
    fail_between(thread, *first_at_barrier_);
  if (thread.state == Thread::State::finished || finished_ == 0) return;
  for (const Thread& other : threads_)
    if (other.state == Thread::State::finished) fail_between(thread, other);
}

void Block::fail_between(const Thread& thread, const Thread& other) const {
  std::string what = describe(thread);
  if (&thread != &other) what += ", " + describe(other);
  fail(fmt::format("threads of block ({}, {}, {}) part: {}; {} of {} have ended", blockIdx.x,
                   blockIdx.y, blockIdx.z, what, finished_, threads_.size()));
}

Block& running_block() {
  thread_local Block block;
  return block;
}

void synchronize_block(fuselage::CodeLocation where) { running_block().synchronize(false, where); }

Votes synchronize_block(bool predicate, fuselage::CodeLocation where) {
  running_block().synchronize(predicate, where);
  return running_block().votes();
}

std::uint64_t exchange(const Exchange& operation, std::uint64_t bits, std::uint32_t source) {
  return running_block().exchange(operation, bits, source);
}

std::uint32_t lane() { return running_block().current().number % kLanes; }

std::uint32_t ballot(const Exchange& operation, bool predicate) {
  return static_cast<std::uint32_t>(exchange(operation, predicate ? 1 : 0, kEveryLane));
}

}  // namespace emulated_cuda
