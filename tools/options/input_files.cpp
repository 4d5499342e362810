#include "tools/options/input_files.h"

#include <algorithm>
#include <array>
#include <optional>
#include <span>
#include <streambuf>
#include <utility>

#include "base/files/compression.h"
#include "corpus/input/input_file.h"
#include "text/lines.h"

namespace fuselage {
namespace {

constexpr std::size_t kBufferBytes = std::size_t{1} << 16;

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

InputFiles::InputFiles(std::vector<std::string> paths) : stream_(nullptr) {
  bool known = true;
  for (const std::string& path : paths) {
    const std::optional<std::uint64_t> size = check_readable(path);
    known = known && size && !make_expander(path);
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
