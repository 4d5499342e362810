#include "models/ctranslate2/model_bin.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <optional>

#include "base/suggest.h"
#include "fuselage/base/error.h"
#include "models/formats/byte_cursor.h"
#include "models/limits.h"

namespace fuselage {
namespace {

constexpr std::uint32_t kFirstVersion = 2, kLastVersion = 6;
/// Versions from which files have aliases, and types of variables in place of their sizes.
constexpr std::uint32_t kFirstWithAliases = 3, kFirstWithTypes = 4;
constexpr unsigned kMaxVariableDimensions = 8;
/// By their number in the file.
constexpr std::array kVariableTypes = {DType::f32, DType::i8,  DType::i16,
                                       DType::i32, DType::f16, DType::bf16};

/// The type of numbers of this many bytes, in files without types.
std::optional<DType> type_of_size(unsigned bytes) {
  if (bytes == 4) return DType::f32;
  if (bytes == 2) return DType::i16;
  if (bytes == 1) return DType::i8;
  return std::nullopt;
}

/// Reads a file front to back.
class ModelBinReader {
 public:
  ModelBinReader(std::string_view bytes, const std::string& file)
      : cursor_(bytes, file), file_(file) {}

  Ctranslate2File read() {
    Ctranslate2File file;
    file.version = cursor_.number<std::uint32_t>("the version");
    if (file.version < kFirstVersion || file.version > kLastVersion)
      throw Error(
          fmt::format("{}: version {} of CTranslate2's binary format is not supported, only {} to "
                      "{}; convert the model again, with a release of CTranslate2 that has these",
                      file_, file.version, kFirstVersion, kLastVersion));
    file.kind = text("the kind of model");
    file.revision = cursor_.number<std::uint32_t>("the revision");
    for (std::uint32_t left = count("variables"); left > 0; --left) read_variable(file);
    if (file.version >= kFirstWithAliases)
      for (std::uint32_t left = count("aliases"); left > 0; --left) read_alias(file);
    if (cursor_.remaining() > 0)
      throw Error(fmt::format("{}: {} bytes follow the last entry; the file is damaged", file_,
                              cursor_.remaining()));
    return file;
  }

 private:
  /// A text, whose length counts the NUL behind it.
  std::string text(std::string_view what) {
    const auto length = cursor_.number<std::uint16_t>(what);
    const std::string_view bytes = cursor_.take(length, what);
    if (bytes.empty() || bytes.find('\0') != bytes.size() - 1)
      throw Error(
          fmt::format("{}: {}, {}, does not end where its length of {} says; the file is damaged",
                      file_, what, in_quotes(bytes), length));
    const std::string_view name = bytes.substr(0, bytes.size() - 1);
    const auto is_control = [](unsigned char c) { return c < ' ' || c == 0x7f; };
    if (std::ranges::any_of(name, is_control))
      throw Error(fmt::format("{}: {}, {}, has a control character; the file is damaged", file_,
                              what, in_quotes(name)));
    return std::string(name);
  }

  std::uint32_t count(std::string_view what) {
    const auto entries = cursor_.number<std::uint32_t>(fmt::format("the number of {}", what));
    if (entries > kMaxTensors)
      throw Error(fmt::format("{}: the file has {} {}, at most {} are read", file_, entries, what,
                              kMaxTensors));
    return entries;
  }

  void read_variable(Ctranslate2File& file) {
    const std::string name = text("the name of a variable");
    const std::string where = fmt::format("{}: variable {}", file_, in_quotes(name));
    Ctranslate2Variable variable;
    const unsigned dimensions = cursor_.number<std::uint8_t>("a shape");
    if (dimensions > kMaxVariableDimensions)
      throw Error(fmt::format("{}: it has {} dimensions, at most {} are allowed", where, dimensions,
                              kMaxVariableDimensions));
    for (unsigned d = 0; d < dimensions; ++d)
      variable.shape.push_back(cursor_.number<std::uint32_t>("a shape"));
    const bool is_typed = file.version >= kFirstWithTypes;
    const unsigned code = cursor_.number<std::uint8_t>("a type");
    variable.dtype = is_typed ? type_of_code(code, where) : type_of_width(code, where);
    std::uint64_t bytes = cursor_.number<std::uint32_t>("a size");
    if (!is_typed) bytes *= code;
    expect_size(variable, bytes, where);
    variable.bytes = cursor_.take(bytes, fmt::format("variable {}", in_quotes(name)));
    if (!file.variables.emplace(name, std::move(variable)).second)
      throw Error(fmt::format("{}: the file has two variables of that name", where));
  }

  static DType type_of_code(unsigned code, const std::string& where) {
    if (code < kVariableTypes.size()) return kVariableTypes[code];
    throw Error(fmt::format("{}: type {} is not known, only 0 to {}", where, code,
                            kVariableTypes.size() - 1));
  }

  static DType type_of_width(unsigned width, const std::string& where) {
    if (const auto type = type_of_size(width)) return *type;
    throw Error(
        fmt::format("{}: there are no numbers of {} bytes, only of 4, 2 and 1", where, width));
  }

  static void expect_size(const Ctranslate2Variable& variable, std::uint64_t bytes,
                          const std::string& where) {
    const bool is_empty = std::ranges::find(variable.shape, 0) != variable.shape.end();
    std::uint64_t needed = is_empty ? 0 : size_of(variable.dtype);
    bool fits = true;
    for (const std::int64_t dim : variable.shape) {
      if (is_empty) break;
      const auto factor = static_cast<std::uint64_t>(dim);
      fits = fits && needed <= bytes / factor;
      if (fits) needed *= factor;
    }
    if (!fits || needed != bytes)
      throw Error(fmt::format("{}: its shape {} of {} does not fit its {} bytes", where,
                              shape_to_string(variable.shape), to_string(variable.dtype), bytes));
  }

  void read_alias(Ctranslate2File& file) {
    std::string alias = text("an alias"), name = text("the name that an alias stands for");
    const std::string where = fmt::format("{}: alias {}", file_, in_quotes(alias));
    if (!file.variables.contains(name))
      throw Error(fmt::format("{}: it stands for {}, but there is no such variable", where,
                              in_quotes(name)));
    if (file.variables.contains(alias) || file.aliases.contains(alias))
      throw Error(fmt::format("{}: the file has that name twice", where));
    file.aliases.emplace(std::move(alias), std::move(name));
  }

  ByteCursor cursor_;
  const std::string& file_;
};

}  // namespace

Tensor Ctranslate2Variable::tensor() const {
  Tensor result(dtype, shape);
  // memcpy() takes no null pointer, not even for nothing.
  if (!bytes.empty()) std::memcpy(result.mutable_bytes(), bytes.data(), bytes.size());
  return result;
}

std::string Ctranslate2File::stored_name(const std::string& name) const {
  if (const auto found = aliases.find(name); found != aliases.end()) return found->second;
  constexpr std::string_view kScale = "_scale";
  if (!name.ends_with(kScale) || variables.contains(name)) return name;
  const auto found = aliases.find(name.substr(0, name.size() - kScale.size()));
  return found == aliases.end() ? name : found->second + std::string(kScale);
}

const Ctranslate2Variable* Ctranslate2File::find(const std::string& name) const {
  const auto found = variables.find(stored_name(name));
  return found == variables.end() ? nullptr : &found->second;
}

Ctranslate2File read_ctranslate2_file(std::string_view bytes, const std::string& name) {
  return ModelBinReader(bytes, name).read();
}

}  // namespace fuselage
