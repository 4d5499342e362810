#include "server/http/listening_socket.h"

#include <fmt/format.h>
#include <netdb.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <chrono>
#include <cstdint>
#include <cstring>
#include <memory>
#include <thread>

#include "fuselage/base/error.h"

namespace fuselage {
namespace {

constexpr int kBacklog = 128;

using Addresses = std::unique_ptr<addrinfo, decltype(&::freeaddrinfo)>;

Addresses addresses_of(const std::string& host, int port) {
  addrinfo hints{};
  hints.ai_socktype = SOCK_STREAM;
  hints.ai_flags = AI_PASSIVE | AI_NUMERICSERV;
  addrinfo* first = nullptr;
  const std::string service = fmt::format("{}", port);
  if (const int failure = ::getaddrinfo(host.c_str(), service.c_str(), &hints, &first))
    throw Error(fmt::format("cannot listen at {}: {}; state an address of this machine", host,
                            ::gai_strerror(failure)));
  return {first, &::freeaddrinfo};
}

/// A listening socket; -1 with the reason in errno.
int listen_at(const addrinfo& address) {
  const int socket = ::socket(address.ai_family, address.ai_socktype | SOCK_CLOEXEC, 0);
  if (socket < 0) return -1;
  const int on = 1;
  ::setsockopt(socket, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
  if (::bind(socket, address.ai_addr, address.ai_addrlen) == 0 && ::listen(socket, kBacklog) == 0)
    return socket;
  const int reason = errno;
  ::close(socket);
  errno = reason;
  return -1;
}

int port_of(int socket) {
  sockaddr_storage address{};
  socklen_t size = sizeof address;
  ::getsockname(socket, reinterpret_cast<sockaddr*>(&address), &size);
  return ntohs(address.ss_family == AF_INET6
                   ? reinterpret_cast<const sockaddr_in6&>(address).sin6_port
                   : reinterpret_cast<const sockaddr_in&>(address).sin_port);
}

}  // namespace

ListeningSocket::ListeningSocket(const std::string& host, int port) {
  const Addresses addresses = addresses_of(host, port);
  for (const addrinfo* at = addresses.get(); at != nullptr && socket_ < 0; at = at->ai_next)
    socket_ = listen_at(*at);
  if (socket_ < 0)
    throw Error(
        fmt::format("cannot listen at {}, port {}: {}; state another port, or 0 for any "
                    "free one",
                    host, port, std::strerror(errno)));
  port_ = port_of(socket_);
  stop_ = ::eventfd(0, EFD_CLOEXEC);
}

ListeningSocket::~ListeningSocket() {
  ::close(socket_);
  ::close(stop_);
}

int ListeningSocket::accept() const {
  for (;;) {
    std::array<pollfd, 2> entries{{{.fd = stop_, .events = POLLIN, .revents = 0},
                                   {.fd = socket_, .events = POLLIN, .revents = 0}}};
    if (::poll(entries.data(), entries.size(), -1) < 0) continue;
    if (entries[0].revents != 0) return -1;
    const int socket = ::accept4(socket_, nullptr, nullptr, SOCK_CLOEXEC);
    if (socket >= 0) return socket;
    // Descriptors or memory may be there again a little later.
    if (errno == EMFILE || errno == ENFILE || errno == ENOBUFS || errno == ENOMEM)
      std::this_thread::sleep_for(std::chrono::milliseconds(50));
  }
}

void ListeningSocket::stop() {
  const std::uint64_t one = 1;
  [[maybe_unused]] const ssize_t written = ::write(stop_, &one, sizeof one);
}

}  // namespace fuselage
