#include "tools/options/input_files.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <optional>
#include <span>
#include <streambuf>
#include <string_view>
#include <utility>

#include "base/compression.h"
#include "fuselage/base/error.h"
#include "text/lines.h"

namespace fuselage {
namespace {

constexpr std::size_t kBufferBytes = std::size_t{1} << 16;
constexpr std::chrono::milliseconds kForever{-1};

std::string name_of(const std::string& path) {
  return is_standard_input(path) ? "standard input" : path;
}

/// Bytes of a file, expanded if it is compressed.
class InputFile {
 public:
  explicit InputFile(const std::string& path)
      : name_(name_of(path)), expander_(make_expander(path)) {
    fd_ = is_standard_input(path) ? STDIN_FILENO : ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
    if (fd_ < 0) throw Error(fmt::format("cannot open {}: {}", name_, std::strerror(errno)));
  }
  ~InputFile() {
    if (fd_ > STDERR_FILENO) ::close(fd_);
  }
  InputFile(const InputFile&) = delete;
  InputFile& operator=(const InputFile&) = delete;

  /// Reads up to `output.size()` bytes and returns their number; 0 at the end of the file.
  std::size_t read(std::span<char> output) {
    if (!expander_) return read_bytes(output);
    while (true) {
      if (const std::size_t written = expand(output)) return written;
      if (!compressed_.empty()) continue;
      const std::size_t size = read_bytes(compressed_bytes_);
      compressed_ = {compressed_bytes_.data(), size};
      if (size > 0) continue;
      if (expander_->may_end()) return 0;
      throw Error(fmt::format(
          "{} is cut off: its {} data end in the middle, at byte {}; make the file anew", name_,
          expander_->format(), bytes_read_));
    }
  }

  bool ready(std::chrono::milliseconds timeout) const {
    if (!compressed_.empty()) return true;
    struct pollfd request {
      .fd = fd_, .events = POLLIN, .revents = 0
    };
    return ::poll(&request, 1, static_cast<int>(timeout.count())) != 0;
  }

 private:
  std::size_t expand(std::span<char> output) {
    try {
      return expander_->expand(compressed_, output);
    } catch (const Error& error) {
      throw Error(
          fmt::format("{} is damaged: its {} data are wrong at byte {} ({}); make the file anew",
                      name_, expander_->format(), bytes_read_ - compressed_.size(), error.what()));
    }
  }

  std::size_t read_bytes(std::span<char> output) {
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

  std::string name_;
  int fd_;
  std::unique_ptr<Expander> expander_;  ///< null: the file is not compressed
  std::array<char, kBufferBytes> compressed_bytes_;
  std::string_view compressed_;  ///< bytes that are not yet expanded
  std::uint64_t bytes_read_ = 0;
};

/// Throws Error unless the file can be read. Returns the size of its text, if known.
std::optional<std::uint64_t> check_readable(const std::string& path) {
  struct stat status {};
  if (is_standard_input(path)) {
    if (::fstat(STDIN_FILENO, &status) != 0) return std::nullopt;
  } else if (::faccessat(AT_FDCWD, path.c_str(), R_OK, AT_EACCESS) != 0 ||
             ::stat(path.c_str(), &status) != 0) {
    throw Error(fmt::format("cannot open {}: {}", path, std::strerror(errno)));
  }
  if (S_ISDIR(status.st_mode))
    throw Error(fmt::format("cannot read {}: it is a directory, a text is needed", name_of(path)));
  if (!S_ISREG(status.st_mode) || make_expander(path)) return std::nullopt;
  return static_cast<std::uint64_t>(status.st_size);
}

}  // namespace

class InputFiles::Buffer : public std::streambuf {
 public:
  explicit Buffer(std::vector<std::string> paths) : paths_(std::move(paths)) {}

  bool ready(std::chrono::milliseconds timeout) const {
    return gptr() != egptr() || !file_ || file_->ready(timeout);
  }

 protected:
  int_type underflow() override {
    while (file_ || next_ < paths_.size()) {
      const bool at_start = !file_;
      if (at_start) file_.emplace(paths_[next_++]);
      std::size_t size = at_start ? read_start() : file_->read(bytes_);
      if (size == 0) {
        file_.reset();
        if (std::exchange(last_, '\n') == '\n') continue;
        bytes_[size++] = '\n';
      }
      last_ = bytes_[size - 1];
      setg(bytes_.data(), bytes_.data(), bytes_.data() + size);
      return traits_type::to_int_type(bytes_[0]);
    }
    return traits_type::eof();
  }

 private:
  /// Reads the first bytes of a file, without a byte order mark.
  std::size_t read_start() {
    const std::span<char> bytes(bytes_);
    std::size_t size = file_->read(bytes);
    const auto begun = [&] { return kByteOrderMark.starts_with({bytes.data(), size}); };
    for (std::size_t more = size; more > 0 && size < kByteOrderMark.size() && begun();) {
      more = file_->read(bytes.subspan(size));
      size += more;
    }
    if (without_byte_order_mark({bytes.data(), size}).size() == size) return size;
    size -= kByteOrderMark.size();
    if (size == 0) return file_->read(bytes);
    std::copy_n(bytes.begin() + kByteOrderMark.size(), size, bytes.begin());
    return size;
  }

  std::vector<std::string> paths_;
  std::size_t next_ = 0;
  std::optional<InputFile> file_;
  char last_ = '\n';  ///< the last byte of the file
  std::array<char, kBufferBytes> bytes_;
};

bool is_standard_input(const std::string& path) { return path == "-" || path == "stdin"; }

InputFiles::InputFiles(std::vector<std::string> paths) : stream_(nullptr) {
  bool known = true;
  for (const std::string& path : paths) {
    const std::optional<std::uint64_t> size = check_readable(path);
    known = known && size;
    size_bytes_ += size.value_or(0);
  }
  if (!known) size_bytes_ = 0;
  buffer_ = std::make_unique<Buffer>(std::move(paths));
  stream_.rdbuf(buffer_.get());
  // Lets exceptions of the buffer pass, which would else look like the end of the text.
  stream_.exceptions(std::ios::badbit);
}

InputFiles::~InputFiles() = default;

bool InputFiles::ready(std::chrono::milliseconds timeout) const { return buffer_->ready(timeout); }

}  // namespace fuselage
