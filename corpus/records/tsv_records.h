#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "corpus/records/record.h"

namespace fuselage {

/// Rows of fields that tabs separate (IANA's text/tab-separated-values, so without quotes). Printed
/// are all fields, and the translation of one of them behind the last.
class TsvRecords : public RecordFormat {
 public:
  /// `column` is a number from 1, or a name in the header that each file then begins with; `added`
  /// is the name of the translation there. Throws Error for a column that is neither.
  TsvRecords(std::string column, std::string added);

  bool has_header() const override { return number_ == 0; }
  std::string read_header(std::string_view row) override;
  Record read(std::string row, std::size_t number) const override;

 private:
  std::string column_, added_;
  std::size_t number_ = 0;  ///< of the column, from 1; 0: it has a name
  std::size_t found_ = 0;   ///< of the column, from 1
  std::string header_;      ///< of the first file
};

}  // namespace fuselage
