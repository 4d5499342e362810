#include "corpus/records/line_records.h"

#include <utility>

namespace fuselage {

Record LineRecords::read(std::string row, std::size_t number) const {
  Record record;
  record.lines.push_back(std::move(row));
  record.joined = [this, number](std::span<const Translation> translations) {
    return format_translation(number, translations.front(), format_);
  };
  return record;
}

}  // namespace fuselage
