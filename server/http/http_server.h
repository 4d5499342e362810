#pragma once

#include <chrono>
#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "server/http/message.h"

namespace fuselage {

struct HttpOptions {
  std::string host = "127.0.0.1";
  int port = 5000;                                    ///< 0: any free one
  std::size_t max_connections = 1024;                 ///< each has a thread
  std::size_t max_body = std::size_t{1} << 20;        ///< bytes of a request, after decompression
  std::chrono::milliseconds request_timeout{10'000};  ///< in which a request has to arrive
  std::chrono::milliseconds idle_timeout{10'000};     ///< between the requests of a connection
  std::chrono::milliseconds write_timeout{10'000};    ///< in which a client has to read on
  /// The client's address is the last one in X-Forwarded-For, which a proxy has added.
  bool behind_proxy = false;
  /// Pages of which other origins may use the replies; "*": all; empty: none.
  std::string allow_origin = "*";
};

/// An exchange with a client, for logs and figures.
struct HttpExchange {
  std::string client, method, path;  ///< empty where the request could not be read
  int status = 0;
  std::size_t bytes = 0;  ///< of the body; 0 for a stream
  std::chrono::duration<double> seconds{0};
};

/// An HTTP/1.1 server with a thread for each connection. Refuses requests that are too large, too
/// slow or malformed by itself, with a JSON object {"error": …}, and those of more connections than
/// there may be threads, but for routes that are answered at once.
class HttpServer {
 public:
  using Observer = std::function<void(const HttpExchange&)>;

  /// Listens from now on. `observe` is called after each exchange, from many threads. Throws Error
  /// for an address at which it cannot listen.
  HttpServer(HttpOptions options, std::vector<HttpRoute> routes, Observer observe);
  ~HttpServer();
  HttpServer(const HttpServer&) = delete;
  HttpServer& operator=(const HttpServer&) = delete;

  int port() const;
  std::size_t connections() const;

  /// Serves until stop(), and until all requests that were accepted are answered.
  void run();
  /// May be called from any thread.
  void stop();

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace fuselage
