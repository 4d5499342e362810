#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "corpus/records/record.h"
#include "text/pages/page.h"

namespace fuselage {

/// Reads a text as sentences.
using ReadPage = std::function<std::unique_ptr<const Page>(std::string text)>;

/// Rows that are JSON objects (JSON lines). Printed is the same object, to the byte, with one more
/// field: the translation of a field. A text of several lines keeps its lines; null stays null.
class JsonRecords : public RecordFormat {
 public:
  /// `field` and `added` are keys of the objects. With `read_page`, the sentences of a text are
  /// translated, without it its lines. Throws Error if both keys are the same.
  JsonRecords(std::string field, std::string added, ReadPage read_page = nullptr);

  Record read(std::string row, std::size_t number) const override;

 private:
  Record record_of_page(std::string row, std::string text) const;

  std::string field_, added_;
  ReadPage read_page_;
};

}  // namespace fuselage
