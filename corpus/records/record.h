#pragma once

#include <cstddef>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "fuselage/decoding/translation.h"

namespace fuselage {

/// A row of a text: the lines of it to translate, and how it is printed with their translations.
struct Record {
  std::vector<std::string> lines;
  /// The printed rows, each with a line break.
  std::function<std::string(std::span<const Translation>)> joined;
};

/// What the rows of a text are.
class RecordFormat {
 public:
  virtual ~RecordFormat() = default;

  /// Whether the first row of a file is a header.
  virtual bool has_header() const { return false; }
  /// Reads the header of a file and returns it as it is printed, with a line break. Throws Error
  /// without a place for one that does not fit, or differs from the one before.
  virtual std::string read_header(std::string_view row) { return std::string(row) + '\n'; }

  /// Reads the row with this number, from 0. Throws Error without a place for one that does not
  /// have what is to be translated.
  virtual Record read(std::string row, std::size_t number) const = 0;
};

/// A row that is printed as it is.
inline Record untranslated_row(std::string row) {
  row += '\n';
  return {.lines = {},
          .joined = [row = std::move(row)](std::span<const Translation>) { return row; }};
}

}  // namespace fuselage
