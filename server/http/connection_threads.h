#pragma once

#include <condition_variable>
#include <cstddef>
#include <functional>
#include <list>
#include <memory>
#include <mutex>
#include <optional>
#include <thread>

#include "server/http/connection.h"

namespace fuselage {

/// The threads of connections, one each, of which there are at most so many. Where all are taken, a
/// new connection takes the place of the one that has waited longest between two requests, if that
/// is long enough for its client not to be sending just now.
class ConnectionThreads {
 public:
  explicit ConnectionThreads(std::size_t most) : most_(most) {}
  ~ConnectionThreads();

  /// Whether there is a place for a new connection. One that waits ends to make room.
  bool make_place();
  /// Runs `serve` for the connection on a thread of its own.
  void start(std::unique_ptr<Connection> connection, std::function<void(Connection&)> serve);

  /// The connection waits for its next request, or no longer does. False: it is to end.
  bool set_waiting(const Connection& connection, bool waiting);

  /// Ends connections that wait between requests; the others end with their present request.
  void stop();
  bool is_stopped() const;
  /// Stops, and waits for all threads.
  void wait_for_end();
  std::size_t count() const;

 private:
  struct Entry {
    std::unique_ptr<Connection> connection;
    std::thread thread;
    std::optional<Connection::Clock::time_point> waits_since = {};  ///< for its next request
    bool leaving = false, ended = false;
  };

  void join_ended(std::unique_lock<std::mutex>& lock);

  std::size_t most_;
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  std::list<Entry> entries_;
  bool stopped_ = false;
};

}  // namespace fuselage
