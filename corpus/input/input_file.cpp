#include "corpus/input/input_file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "fuselage/base/error.h"

namespace fuselage {
namespace {

constexpr std::chrono::milliseconds kForever{-1};

}  // namespace

bool is_standard_input(const std::string& path) { return path == "-" || path == "stdin"; }

std::string input_name(const std::string& path) {
  return is_standard_input(path) ? "standard input" : path;
}

std::optional<std::uint64_t> check_readable(const std::string& path) {
  struct stat status {};
  if (is_standard_input(path)) {
    if (::fstat(STDIN_FILENO, &status) != 0) return std::nullopt;
  } else if (::faccessat(AT_FDCWD, path.c_str(), R_OK, AT_EACCESS) != 0 ||
             ::stat(path.c_str(), &status) != 0) {
    throw Error(fmt::format("cannot open {}: {}", path, std::strerror(errno)));
  }
  if (S_ISDIR(status.st_mode))
    throw Error(
        fmt::format("cannot read {}: it is a directory, a text is needed", input_name(path)));
  if (!S_ISREG(status.st_mode)) return std::nullopt;
  return static_cast<std::uint64_t>(status.st_size);
}

InputFile::InputFile(const std::string& path)
    : name_(input_name(path)), expander_(make_expander(path)) {
  fd_ = is_standard_input(path) ? STDIN_FILENO : ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (fd_ < 0) throw Error(fmt::format("cannot open {}: {}", name_, std::strerror(errno)));
}

InputFile::~InputFile() {
  if (fd_ > STDERR_FILENO) ::close(fd_);
}

std::size_t InputFile::read(std::span<char> output) {
  if (!expander_) return read_bytes(output);
  while (true) {
    if (const std::size_t written = expand(output)) return written;
    if (!compressed_.empty()) continue;
    const std::size_t size = read_bytes(compressed_bytes_);
    compressed_ = {compressed_bytes_.data(), size};
    if (size > 0) continue;
    if (expander_->may_end()) return 0;
    throw Error(
        fmt::format("{} is cut off: its {} data end in the middle, at byte {}; make the file anew",
                    name_, expander_->format(), bytes_read_));
  }
}

bool InputFile::ready(std::chrono::milliseconds timeout) const {
  if (!compressed_.empty()) return true;
  struct pollfd request {
    .fd = fd_, .events = POLLIN, .revents = 0
  };
  return ::poll(&request, 1, static_cast<int>(timeout.count())) != 0;
}

std::size_t InputFile::expand(std::span<char> output) {
  try {
    return expander_->expand(compressed_, output);
  } catch (const Error& error) {
    throw Error(
        fmt::format("{} is damaged: its {} data are wrong at byte {} ({}); make the file anew",
                    name_, expander_->format(), bytes_read_ - compressed_.size(), error.what()));
  }
}

std::size_t InputFile::read_bytes(std::span<char> output) {
  while (true) {
    const ssize_t size = ::read(fd_, output.data(), output.size());
    if (size >= 0) {
      bytes_read_ += static_cast<std::uint64_t>(size);
      return static_cast<std::size_t>(size);
    }
    // Another process that shares the pipe may have made it non-blocking.
    if (errno == EAGAIN)
      ready(kForever);
    else if (errno != EINTR)
      throw Error(fmt::format("cannot read {}: {}", name_, std::strerror(errno)));
  }
}

}  // namespace fuselage
