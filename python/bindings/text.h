#pragma once

#include <nanobind/nanobind.h>

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

/// A text that a function takes, as UTF-8. Python's texts may have lone surrogates, which UTF-8
/// cannot write: such a text throws Error where it is used, since a conversion of arguments can
/// refuse without a reason only.
class Text {
 public:
  Text() = default;
  explicit Text(std::string_view utf8) : utf8_(utf8) {}
  /// A text with the lone surrogate `code` as its character `at`, from 0.
  Text(std::uint32_t code, std::size_t at) : surrogate_(code), at_(at) {}

  const std::string& utf8() const {
    expect_valid();
    return utf8_;
  }
  std::string take() {
    expect_valid();
    return std::move(utf8_);
  }
  operator const std::string&() const& { return utf8(); }
  operator std::string() && { return take(); }

 private:
  void expect_valid() const;

  std::string utf8_;
  std::uint32_t surrogate_ = 0;  ///< 0: none
  std::size_t at_ = 0;
};

/// The texts as UTF-8.
std::vector<std::string> strings(std::vector<Text> texts);

/// Arguments of a command: paths may have any bytes.
std::vector<std::string> strings(const std::vector<nanobind::bytes>& arguments);

/// A text for Python; bytes that are not UTF-8, as paths may have, become escapes like \xe9.
nanobind::str escaped(std::string_view text);
std::vector<nanobind::str> escaped(const std::vector<std::string>& texts);

namespace nanobind::detail {

template <>
struct type_caster<Text> {
  NB_TYPE_CASTER(Text, const_name("str"))

  bool from_python(handle source, std::uint32_t, cleanup_list*) noexcept;
};

}  // namespace nanobind::detail
