#pragma once

#include <string>

namespace fuselage {

/// A socket that accepts connections, until stop().
class ListeningSocket {
 public:
  /// Listens at an address or a name of this machine; port 0: any free one. Throws Error with the
  /// system's reason.
  ListeningSocket(const std::string& host, int port);
  ~ListeningSocket();
  ListeningSocket(const ListeningSocket&) = delete;
  ListeningSocket& operator=(const ListeningSocket&) = delete;

  int port() const { return port_; }
  int descriptor() const { return socket_; }

  /// The next connection; -1: stop() was called.
  int accept() const;
  /// Ends accept(). May be called from any thread.
  void stop();

 private:
  int socket_ = -1, stop_ = -1;
  int port_ = 0;
};

}  // namespace fuselage
