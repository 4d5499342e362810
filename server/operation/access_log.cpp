#include "server/operation/access_log.h"

#include <fcntl.h>
#include <fmt/chrono.h>
#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cstring>

#include "base/suggest.h"
#include "fuselage/base/error.h"

namespace fuselage {

AccessLog::AccessLog(const std::string& path) : path_(path) { reopen(); }

AccessLog::~AccessLog() {
  if (fd_ > STDERR_FILENO) ::close(fd_);
}

void AccessLog::reopen() {
  if (path_.empty()) return;
  int fresh = STDERR_FILENO;
  if (path_ != "-") fresh = ::open(path_.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0640);
  if (fresh < 0)
    throw Error(fmt::format("cannot write the access log {}: {}", path_, std::strerror(errno)));
  const std::lock_guard lock(mutex_);
  std::swap(fd_, fresh);
  if (fresh > STDERR_FILENO) ::close(fresh);
}

void AccessLog::add(const HttpExchange& exchange) {
  if (path_.empty()) return;
  const std::time_t now = std::chrono::system_clock::to_time_t(std::chrono::system_clock::now());
  const std::string line = fmt::format(
      "{:%Y-%m-%dT%H:%M:%SZ} {} {} {} {} {} {:.3f}\n", fmt::gmtime(now), exchange.client,
      exchange.method.empty() ? "-" : exchange.method, in_quotes(exchange.path), exchange.status,
      exchange.bytes, exchange.seconds.count());
  const std::lock_guard lock(mutex_);
  [[maybe_unused]] const ssize_t written = ::write(fd_, line.data(), line.size());
}

}  // namespace fuselage
