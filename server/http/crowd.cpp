#include "server/http/crowd.h"

#include <poll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <cstdint>
#include <utility>
#include <vector>

namespace fuselage {
namespace {

using std::chrono::milliseconds;

constexpr std::size_t kMaxMembers = 1024;
/// How long a client may take to read a reply.
constexpr milliseconds kLeave{1000};
/// How often deadlines are looked at.
constexpr int kTickMilliseconds = 100;

}  // namespace

Crowd::Crowd(milliseconds patience, Serve serve)
    : patience_(patience),
      serve_(std::move(serve)),
      wake_(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)),
      thread_([this] { run(); }) {}

Crowd::~Crowd() {
  stop();
  ::close(wake_);
}

void Crowd::add(std::unique_ptr<Connection> connection) {
  {
    const std::lock_guard lock(mutex_);
    new_.push_back({std::move(connection), Connection::Clock::now() + patience_});
    if (new_.size() > kMaxMembers) new_.pop_front();
  }
  const std::uint64_t one = 1;
  [[maybe_unused]] const ssize_t written = ::write(wake_, &one, sizeof one);
}

void Crowd::stop() {
  {
    const std::lock_guard lock(mutex_);
    stopped_ = true;
  }
  const std::uint64_t one = 1;
  [[maybe_unused]] const ssize_t written = ::write(wake_, &one, sizeof one);
  if (thread_.joinable()) thread_.join();
}

void Crowd::take_new() {
  const std::lock_guard lock(mutex_);
  members_.splice(members_.end(), new_);
  while (members_.size() > kMaxMembers) members_.pop_front();
  if (stopped_) members_.clear();
}

void Crowd::run() {
  for (;;) {
    wait_for_input();
    take_new();
    const std::lock_guard lock(mutex_);
    if (stopped_) return;
  }
}

void Crowd::wait_for_input() {
  std::vector<pollfd> entries{{.fd = wake_, .events = POLLIN, .revents = 0}};
  for (const Member& member : members_)
    entries.push_back({.fd = member.connection->socket(), .events = POLLIN, .revents = 0});
  ::poll(entries.data(), entries.size(), members_.empty() ? -1 : kTickMilliseconds);
  std::uint64_t count = 0;
  [[maybe_unused]] const ssize_t woken = ::read(wake_, &count, sizeof count);
  std::size_t i = 0;
  for (auto member = members_.begin(); member != members_.end();) {
    const bool stays = look_after(*member, entries[++i].revents != 0);
    member = stays ? std::next(member) : members_.erase(member);
  }
}

bool Crowd::look_after(Member& member, bool has_input) {
  Connection& connection = *member.connection;
  const auto now = Connection::Clock::now();
  if (member.leaving) return now < member.deadline && (!has_input || connection.drop_input());
  if (now >= member.deadline || (has_input && !connection.receive())) return false;
  if (!has_input || !connection.has_head()) return true;
  serve_(member.connection);
  if (member.connection == nullptr) return false;
  connection.end_sending();
  member.leaving = true;
  member.deadline = now + kLeave;
  return true;
}

}  // namespace fuselage
