#pragma once

#include "corpus/records/record.h"
#include "fuselage/decoding/output_format.h"

namespace fuselage {

/// Rows that are lines to translate; printed are their translations.
class LineRecords : public RecordFormat {
 public:
  explicit LineRecords(OutputFormat format) : format_(format) {}

  Record read(std::string row, std::size_t number) const override;

 private:
  OutputFormat format_;
};

}  // namespace fuselage
