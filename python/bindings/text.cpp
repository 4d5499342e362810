#include "python/bindings/text.h"

#include <array>
#include <cstdio>
#include <utility>

#include "fuselage/base/error.h"

namespace nb = nanobind;

void Text::expect_valid() const {
  if (surrogate_ == 0) return;
  std::array<char, 9> code{};
  std::snprintf(code.data(), code.size(), "%04X", static_cast<unsigned>(surrogate_));
  throw fuselage::Error(std::string("a text has the lone surrogate U+") + code.data() +
                        " in place of character " + std::to_string(at_ + 1) +
                        "; decode its bytes with errors='replace', or remove it");
}

std::vector<std::string> strings(std::vector<Text> texts) {
  std::vector<std::string> result;
  result.reserve(texts.size());
  for (Text& text : texts) result.push_back(text.take());
  return result;
}

std::vector<std::string> strings(const std::vector<nb::bytes>& arguments) {
  std::vector<std::string> result;
  result.reserve(arguments.size());
  for (const nb::bytes& argument : arguments)
    result.emplace_back(argument.c_str(), argument.size());
  return result;
}

nb::str escaped(std::string_view text) {
  PyObject* const made =
      PyUnicode_DecodeUTF8(text.data(), static_cast<Py_ssize_t>(text.size()), "backslashreplace");
  if (made == nullptr) throw nb::python_error();
  return nb::steal<nb::str>(made);
}

std::vector<nb::str> escaped(const std::vector<std::string>& texts) {
  std::vector<nb::str> result;
  for (const std::string& text : texts) result.push_back(escaped(text));
  return result;
}

namespace nanobind::detail {

bool type_caster<Text>::from_python(handle source, std::uint32_t, cleanup_list*) noexcept {
  if (!PyUnicode_Check(source.ptr())) return false;
  Py_ssize_t size = 0;
  if (const char* const utf8 = PyUnicode_AsUTF8AndSize(source.ptr(), &size)) {
    value = Text(std::string_view(utf8, static_cast<std::size_t>(size)));
    return true;
  }
  PyErr_Clear();
  for (Py_ssize_t i = 0; i < PyUnicode_GetLength(source.ptr()); ++i) {
    const Py_UCS4 character = PyUnicode_ReadChar(source.ptr(), i);
    if (character < 0xD800 || character > 0xDFFF) continue;
    value = Text(character, static_cast<std::size_t>(i));
    return true;
  }
  return false;
}

}  // namespace nanobind::detail
