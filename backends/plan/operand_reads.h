#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <initializer_list>

namespace fuselage {

/// How a kernel can read the rows of an operand. Each way includes those before it.
enum class Reads : std::uint8_t {
  whole,  ///< all columns of a buffer, row after row
  slice,  ///< some columns of a buffer: for operands that the kernel indexes by itself
  view,   ///< some columns of a buffer, through any index
};

/// How a kernel reads each of its operands: the first ones as listed, all others whole.
class OperandReads {
 public:
  constexpr OperandReads() = default;
  // NOLINTNEXTLINE(google-explicit-constructor): a table writes {view, whole}
  constexpr OperandReads(std::initializer_list<Reads> first) {
    for (const Reads reads : first) listed_.at(count_++) = reads;
  }

  /// The same with another way for the operands that are not listed.
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

/// All operands alike.
constexpr OperandReads all_operands(Reads reads) { return OperandReads().then_all(reads); }

}  // namespace fuselage
