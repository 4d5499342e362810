#pragma once

#include <chrono>
#include <cstddef>
#include <functional>
#include <list>
#include <memory>
#include <mutex>
#include <thread>

#include "server/http/connection.h"

namespace fuselage {

/// Connections that got no thread of their own. One thread watches them all, never waits for one of
/// them, and serves each when the head of its request has come.
class Crowd {
 public:
  /// Answers a request whose head has come, without waiting, or takes the connection.
  using Serve = std::function<void(std::unique_ptr<Connection>&)>;

  /// A request has to arrive within `patience`.
  Crowd(std::chrono::milliseconds patience, Serve serve);
  ~Crowd();
  Crowd(const Crowd&) = delete;
  Crowd& operator=(const Crowd&) = delete;

  /// Where there are too many, the oldest is closed.
  void add(std::unique_ptr<Connection> connection);
  /// Closes all connections.
  void stop();

 private:
  struct Member {
    std::unique_ptr<Connection> connection;
    Connection::Clock::time_point deadline;
    bool leaving = false;  ///< the reply has been sent
  };

  void run();
  void take_new();
  void wait_for_input();
  /// False: the connection is to be closed, or was taken.
  bool look_after(Member& member, bool has_input);

  std::chrono::milliseconds patience_;
  Serve serve_;
  int wake_;
  std::mutex mutex_;
  std::list<Member> new_;  ///< guarded
  bool stopped_ = false;   ///< guarded
  std::list<Member> members_;
  std::thread thread_;
};

}  // namespace fuselage
