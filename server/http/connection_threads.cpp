#include "server/http/connection_threads.h"

#include <algorithm>
#include <chrono>
#include <system_error>
#include <utility>

namespace fuselage {
namespace {

/// A client that has sent nothing for so long is hardly sending a request just now.
constexpr std::chrono::milliseconds kLeastWait{1000};

}  // namespace

ConnectionThreads::~ConnectionThreads() { wait_for_end(); }

void ConnectionThreads::wait_for_end() {
  stop();
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [&] { return std::ranges::all_of(entries_, &Entry::ended); });
  join_ended(lock);
}

/// Without the lock while it waits: a thread ends right after it marked its entry.
void ConnectionThreads::join_ended(std::unique_lock<std::mutex>& lock) {
  std::list<Entry> ended;
  for (auto at = entries_.begin(); at != entries_.end();) {
    const auto next = std::next(at);
    if (at->ended) ended.splice(ended.end(), entries_, at);
    at = next;
  }
  lock.unlock();
  for (Entry& entry : ended) entry.thread.join();
  lock.lock();
}

bool ConnectionThreads::make_place() {
  std::unique_lock lock(mutex_);
  join_ended(lock);
  const auto staying = static_cast<std::size_t>(
      std::ranges::count_if(entries_, [](const Entry& entry) { return !entry.leaving; }));
  if (staying < most_) return true;
  const auto now = Connection::Clock::now();
  const auto longest = std::ranges::min_element(
      entries_, {}, [&](const Entry& entry) { return entry.waits_since.value_or(now); });
  const bool can_leave =
      longest != entries_.end() && now - longest->waits_since.value_or(now) >= kLeastWait;
  // A connection takes a moment to leave.
  if (!can_leave || entries_.size() >= 2 * most_) return false;
  longest->connection->stop_reading();
  longest->waits_since.reset();
  longest->leaving = true;
  return true;
}

void ConnectionThreads::start(std::unique_ptr<Connection> connection,
                              std::function<void(Connection&)> serve) {
  const std::lock_guard lock(mutex_);
  entries_.emplace_back();
  const auto entry = std::prev(entries_.end());
  entry->connection = std::move(connection);
  try {
    entry->thread = std::thread([this, entry, serve = std::move(serve)] {
      serve(*entry->connection);
      const std::lock_guard guard(mutex_);
      entry->connection.reset();
      entry->waits_since.reset();
      entry->ended = true;
      changed_.notify_all();
    });
  } catch (const std::system_error&) {
    // The client finds its connection closed and may come again.
    entries_.erase(entry);
  }
}

bool ConnectionThreads::set_waiting(const Connection& connection, bool waiting) {
  const std::lock_guard lock(mutex_);
  for (Entry& entry : entries_) {
    if (entry.connection.get() != &connection) continue;
    entry.waits_since.reset();
    if (waiting) entry.waits_since = Connection::Clock::now();
  }
  return !stopped_;
}

void ConnectionThreads::stop() {
  const std::lock_guard lock(mutex_);
  stopped_ = true;
  for (const Entry& entry : entries_)
    if (entry.waits_since) entry.connection->stop_reading();
  changed_.notify_all();
}

bool ConnectionThreads::is_stopped() const {
  const std::lock_guard lock(mutex_);
  return stopped_;
}

std::size_t ConnectionThreads::count() const {
  const std::lock_guard lock(mutex_);
  return static_cast<std::size_t>(std::ranges::count(entries_, false, &Entry::ended));
}

}  // namespace fuselage
