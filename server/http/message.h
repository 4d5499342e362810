#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "fuselage/base/error.h"

namespace fuselage {

using HttpFields = std::vector<std::pair<std::string, std::string>>;

/// A request, with its whole body.
struct HttpRequest {
  std::string method, path;
  std::string content_type;   ///< media type in small letters, without parameters
  std::string authorization;  ///< the header
  std::string client;         ///< address
  std::string body;           ///< empty for multipart/form-data
  HttpFields parts;           ///< of multipart/form-data
  HttpFields query;           ///< what is behind the path
  /// Whether the client still waits for the reply.
  std::function<bool()> is_connected = [] { return true; };
};

struct HttpReply {
  /// Sends a piece of a body; false: the client has gone.
  using Send = std::function<bool(std::string_view piece)>;

  int status = 200;
  std::string type = "application/json";
  std::string body = {};
  HttpFields headers = {};
  /// Sends the body piece by piece, in place of `body`. Must not throw.
  std::function<void(const Send&)> stream = nullptr;
};

/// A request that is refused: a status, and a message for the client.
class HttpError : public Error {
 public:
  HttpError(int status, const std::string& message, HttpFields headers = {})
      : Error(message), status_(status), headers_(std::move(headers)) {}

  int status() const { return status_; }
  const HttpFields& headers() const { return headers_; }

 private:
  int status_;
  HttpFields headers_;
};

/// What answers the requests of a path with a method: GET, which is also HEAD, or POST.
struct HttpRoute {
  std::string method, path;
  std::function<HttpReply(const HttpRequest&)> handle;
  /// A GET that is answered without waiting, however many connections there are.
  bool at_once = false;
};

}  // namespace fuselage
