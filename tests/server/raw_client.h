#pragma once

#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>

namespace fuselage::support {

/// A connection for bytes that no client would send.
class RawClient {
 public:
  /// With `receive_bytes`, the systems of both sides keep little of a reply that is not read; else
  /// some megabytes.
  explicit RawClient(int port, int receive_bytes = 0) : socket_(::socket(AF_INET, SOCK_STREAM, 0)) {
    if (receive_bytes > 0) {
      // The buffer of the sender follows from the size of segments.
      const int segment = 536;
      ::setsockopt(socket_, IPPROTO_TCP, TCP_MAXSEG, &segment, sizeof segment);
      ::setsockopt(socket_, SOL_SOCKET, SO_RCVBUF, &receive_bytes, sizeof receive_bytes);
    }
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(static_cast<std::uint16_t>(port));
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    connected_ =
        ::connect(socket_, reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0;
  }
  ~RawClient() { ::close(socket_); }
  RawClient(const RawClient&) = delete;
  RawClient& operator=(const RawClient&) = delete;

  bool connected() const { return connected_; }

  /// False: the server has closed the connection.
  bool send(std::string_view bytes) const {
    while (!bytes.empty()) {
      const ssize_t sent = ::send(socket_, bytes.data(), bytes.size(), MSG_NOSIGNAL);
      if (sent < 0) return false;
      bytes.remove_prefix(static_cast<std::size_t>(sent));
    }
    return true;
  }

  /// Without waiting, sends as much as there is room for; false: the server has closed the
  /// connection.
  bool send_at_once(std::string_view bytes) const {
    return ::send(socket_, bytes.data(), bytes.size(), MSG_NOSIGNAL | MSG_DONTWAIT) >= 0 ||
           errno == EAGAIN;
  }

  /// The connection ends without a farewell, as that of a program that crashes.
  void reset_at_end() const {
    const linger at_once{.l_onoff = 1, .l_linger = 0};
    ::setsockopt(socket_, SOL_SOCKET, SO_LINGER, &at_once, sizeof at_once);
  }

  /// All that comes until the server closes the connection, or until `end` has come.
  std::string read(std::string_view end = {},
                   std::chrono::seconds timeout = std::chrono::seconds(300)) const {
    std::string all;
    const auto until = std::chrono::steady_clock::now() + timeout;
    pollfd entry{.fd = socket_, .events = POLLIN, .revents = 0};
    while (std::chrono::steady_clock::now() < until) {
      if (::poll(&entry, 1, 100) <= 0) continue;
      char buffer[4096];
      const ssize_t count = ::recv(socket_, buffer, sizeof buffer, 0);
      if (count <= 0) return all;
      all.append(buffer, static_cast<std::size_t>(count));
      if (!end.empty() && all.find(end) != std::string::npos) return all;
    }
    return all + "(timeout)";
  }

 private:
  int socket_;
  bool connected_ = false;
};

}  // namespace fuselage::support
