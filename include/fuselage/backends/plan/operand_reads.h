#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <initializer_list>

#include "fuselage/base/api.h"

namespace FUSELAGE_API fuselage {

/// How a kernel can read the rows of an operand. Each way includes the preceding ones.
enum class Reads : std::uint8_t {
  whole,  ///< all columns of a buffer, row after row
  slice,  ///< a range of columns; for operands that the kernel itself indexes
  view,   ///< a range of columns, through any index
};

/// How a kernel reads its operands: the first ones as listed, all others whole.
class OperandReads {
 public:
  constexpr OperandReads() = default;
  // NOLINTNEXTLINE(google-explicit-constructor): a table writes {view, whole}
  constexpr OperandReads(std::initializer_list<Reads> first) {
    for (const Reads reads : first) listed_.at(count_++) = reads;
  }

  /// The same with `rest` for the operands that are not listed.
  constexpr OperandReads then_all(Reads rest) const {
    OperandReads reads = *this;
    reads.rest_ = rest;
    return reads;
  }

  constexpr Reads operator[](std::size_t operand) const {
    return operand < count_ ? listed_[operand] : rest_;
  }

 private:
  static constexpr std::size_t kMaxListed = 8;
  std::array<Reads, kMaxListed> listed_{};
  std::size_t count_ = 0;
  Reads rest_ = Reads::whole;
};

/// The same way for all operands.
constexpr OperandReads all_operands(Reads reads) { return OperandReads().then_all(reads); }

}  // namespace fuselage
