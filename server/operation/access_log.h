#pragma once

#include <memory>
#include <mutex>
#include <string>

#include "fuselage/base/log.h"
#include "server/http/http_server.h"

namespace fuselage {

/// A line for each request: time, client, method, path, status, bytes and seconds. Thread-safe.
class AccessLog {
 public:
  /// `path`: a file, to which lines are added; "-": standard error; empty: no log. Throws Error for
  /// a file that cannot be written.
  explicit AccessLog(const std::string& path);
  ~AccessLog();
  AccessLog(const AccessLog&) = delete;
  AccessLog& operator=(const AccessLog&) = delete;

  void add(const HttpExchange& exchange);
  /// Opens the file again, which may have been moved away.
  void reopen();

 private:
  std::string path_;
  std::mutex mutex_;
  int fd_ = -1;
};

}  // namespace fuselage
