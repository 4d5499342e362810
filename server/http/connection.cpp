#include "server/http/connection.h"

#include <netdb.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <string_view>

namespace fuselage {
namespace {

using std::chrono::milliseconds;

/// How long the last bytes of a client are read and dropped.
constexpr milliseconds kFarewell{1000};

/// The address and port of an end of a connection. An IPv4 address of an IPv6 socket is itself.
template <typename Name>
void read_address(int socket, const Name& name, std::string& address, int& port) {
  sockaddr_storage storage{};
  socklen_t size = sizeof storage;
  auto* const plain = reinterpret_cast<sockaddr*>(&storage);
  std::array<char, NI_MAXHOST> host{};
  std::array<char, NI_MAXSERV> service{};
  if (name(socket, plain, &size) != 0 ||
      ::getnameinfo(plain, size, host.data(), host.size(), service.data(), service.size(),
                    NI_NUMERICHOST | NI_NUMERICSERV) != 0)
    return;
  address = host.data();
  constexpr std::string_view kMapped = "::ffff:";
  if (address.starts_with(kMapped)) address.erase(0, kMapped.size());
  port = std::atoi(service.data());
}

}  // namespace

Connection::Connection(int socket, milliseconds write_timeout)
    : socket_(socket), write_timeout_(write_timeout) {
  const int on = 1;
  ::setsockopt(socket_, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
  read_address(socket_, ::getpeername, address_, port_);
}

Connection::~Connection() { ::close(socket_); }

bool Connection::wait(short events, milliseconds timeout) const {
  pollfd entry{.fd = socket_, .events = events, .revents = 0};
  const auto until = Clock::now() + timeout;
  for (;;) {
    const auto left = std::chrono::ceil<milliseconds>(until - Clock::now());
    const int found = ::poll(&entry, 1, static_cast<int>(std::max<std::int64_t>(left.count(), 0)));
    if (found >= 0 || errno != EINTR) return found > 0;
  }
}

bool Connection::wait_for_request(milliseconds timeout) const {
  if (begin_ < end_) return true;
  char byte = 0;
  return wait(POLLIN, timeout) && ::recv(socket_, &byte, 1, MSG_PEEK | MSG_DONTWAIT) > 0;
}

void Connection::begin_request(std::size_t head_bytes, milliseconds timeout) {
  bytes_left_ = head_bytes;
  began_ = Clock::now();
  deadline_ = began_ + timeout;
  timed_out_ = too_large_ = replied_ = false;
}

/// After stop_reading() the socket always tells that its reading side has ended.
bool Connection::is_connected() const {
  const short events = stopped_reading_ ? 0 : POLLRDHUP;
  pollfd entry{.fd = socket_, .events = events, .revents = 0};
  return ::poll(&entry, 1, 0) <= 0;
}

void Connection::stop_reading() {
  stopped_reading_ = true;
  ::shutdown(socket_, SHUT_RD);
}

void Connection::end_sending() const { ::shutdown(socket_, SHUT_WR); }

bool Connection::drop_input() {
  const ssize_t count = ::recv(socket_, buffer_.data(), buffer_.size(), MSG_DONTWAIT);
  return count > 0 || (count < 0 && (errno == EAGAIN || errno == EINTR));
}

bool Connection::receive() {
  if (end_ == buffer_.size()) return true;
  const ssize_t count = ::recv(socket_, buffer_.data() + end_, buffer_.size() - end_, MSG_DONTWAIT);
  if (count > 0) end_ += static_cast<std::size_t>(count);
  return count > 0 || (count < 0 && (errno == EAGAIN || errno == EINTR));
}

bool Connection::has_head() const {
  const std::string_view come(buffer_.data() + begin_, end_ - begin_);
  return end_ == buffer_.size() || come.find("\r\n\r\n") != std::string_view::npos;
}

void Connection::finish() {
  end_sending();
  const auto until = Clock::now() + kFarewell;
  while (wait(POLLIN, std::chrono::ceil<milliseconds>(until - Clock::now())) &&
         ::recv(socket_, buffer_.data(), buffer_.size(), MSG_DONTWAIT) > 0)
    continue;
}

bool Connection::is_readable() const { return begin_ < end_ || wait(POLLIN, write_timeout_); }

bool Connection::is_writable() const { return is_connected() && wait(POLLOUT, write_timeout_); }

ssize_t Connection::fill() {
  const auto left = std::chrono::ceil<milliseconds>(deadline_ - Clock::now());
  if (left.count() <= 0 || !wait(POLLIN, left)) {
    timed_out_ = true;
    return -1;
  }
  const ssize_t count = ::recv(socket_, buffer_.data(), buffer_.size(), 0);
  begin_ = 0;
  end_ = static_cast<std::size_t>(std::max<ssize_t>(count, 0));
  return count;
}

ssize_t Connection::read(char* to, std::size_t size) {
  if (bytes_left_ == 0) {
    too_large_ = true;
    return -1;
  }
  if (begin_ == end_)
    if (const ssize_t count = fill(); count <= 0) return count;
  const std::size_t count = std::min({size, end_ - begin_, bytes_left_});
  std::memcpy(to, buffer_.data() + begin_, count);
  begin_ += count;
  bytes_left_ -= count;
  return static_cast<ssize_t>(count);
}

ssize_t Connection::write(const char* bytes, std::size_t size) {
  if (!wait(POLLOUT, write_timeout_)) return -1;
  replied_ = true;
  return ::send(socket_, bytes, size, MSG_NOSIGNAL | MSG_DONTWAIT);
}

void Connection::get_remote_ip_and_port(std::string& ip, int& port) const {
  ip = address_;
  port = port_;
}

void Connection::get_local_ip_and_port(std::string& ip, int& port) const {
  read_address(socket_, ::getsockname, ip, port);
}

}  // namespace fuselage
