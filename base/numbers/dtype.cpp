#include "fuselage/base/dtype.h"

#include <array>

namespace fuselage {
namespace {

struct DTypeInfo {
  DType dtype;
  std::string_view name;
  std::size_t size;
};

constexpr std::array<DTypeInfo, 15> kDTypes{{{DType::f16, "f16", 2},
                                             {DType::bf16, "bf16", 2},
                                             {DType::f32, "f32", 4},
                                             {DType::f64, "f64", 8},
                                             {DType::i8, "i8", 1},
                                             {DType::i16, "i16", 2},
                                             {DType::i32, "i32", 4},
                                             {DType::i64, "i64", 8},
                                             {DType::u8, "u8", 1},
                                             {DType::u16, "u16", 2},
                                             {DType::u32, "u32", 4},
                                             {DType::u64, "u64", 8},
                                             {DType::qint8, "qint8", 1},
                                             {DType::qint16, "qint16", 2},
                                             {DType::qlog4, "qlog4", 1}}};

}  // namespace

std::size_t size_of(DType dtype) { return kDTypes[static_cast<std::size_t>(dtype)].size; }

std::string_view to_string(DType dtype) { return kDTypes[static_cast<std::size_t>(dtype)].name; }

std::optional<DType> dtype_from_string(std::string_view name) {
  for (const DTypeInfo& info : kDTypes)
    if (info.name == name) return info.dtype;
  return std::nullopt;
}

}  // namespace fuselage
