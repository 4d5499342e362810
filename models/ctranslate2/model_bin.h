#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "fuselage/base/dtype.h"
#include "fuselage/base/tensor.h"

namespace fuselage {

/// A variable of a CTranslate2 model.
struct Ctranslate2Variable {
  DType dtype = DType::f32;  ///< f32, f16, bf16, i8, i16 or i32
  std::vector<std::int64_t> shape;
  std::string_view bytes;  ///< in the file

  /// A copy of the numbers.
  Tensor tensor() const;
};

/// The content of CTranslate2's model.bin. Variables are views of the file.
struct Ctranslate2File {
  std::uint32_t version = 0;   ///< of the binary format
  std::string kind;            ///< "TransformerSpec"
  std::uint32_t revision = 0;  ///< of the names of a kind's variables
  std::map<std::string, Ctranslate2Variable> variables;
  /// Further names of variables, which share their numbers and scales.
  std::map<std::string, std::string> aliases;

  /// The name under which a variable is stored: that of an alias, else the same.
  std::string stored_name(const std::string& name) const;
  /// The variable of this name or alias; null if there is none.
  const Ctranslate2Variable* find(const std::string& name) const;
};

/// Reads model.bin of the binary versions 2 to 6 in linear time. Throws Error with `name` and the
/// variable at fault for another version, a truncated or damaged file, two variables of one name,
/// a size that does not fit its shape, a type that is not known, and an alias of no variable.
Ctranslate2File read_ctranslate2_file(std::string_view bytes, const std::string& name);

}  // namespace fuselage
