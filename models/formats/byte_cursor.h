#pragma once

#include <fmt/format.h>

#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>

#include "fuselage/base/error.h"

namespace fuselage {

/// Reads the bytes of a file front to back, numbers in the order of bytes of the processor. `what`
/// names the bytes in messages. Throws Error with the file for bytes that are not there.
class ByteCursor {
 public:
  /// `file` must stay as long as the cursor.
  ByteCursor(std::string_view bytes, const std::string& file) : rest_(bytes), file_(file) {}

  std::uint64_t remaining() const { return rest_.size(); }

  std::string_view take(std::uint64_t count, std::string_view what) {
    if (count > rest_.size())
      throw Error(fmt::format("{}: the file is truncated: {} takes {} bytes but {} follow", file_,
                              what, count, rest_.size()));
    const std::string_view taken = rest_.substr(0, count);
    rest_.remove_prefix(count);
    return taken;
  }

  template <typename T>
  T number(std::string_view what) {
    T value = 0;
    std::memcpy(&value, take(sizeof value, what).data(), sizeof value);
    return value;
  }

 private:
  std::string_view rest_;
  const std::string& file_;
};

}  // namespace fuselage
