#include "fuselage/models/formats/safetensors.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <limits>
#include <optional>
#include <tuple>
#include <vector>

#include "base/files/file.h"
#include "base/files/mapped_memory.h"
#include "base/suggest.h"
#include "fuselage/base/error.h"
#include "models/formats/json.h"
#include "models/limits.h"

namespace fuselage {
namespace {

using Json = nlohmann::json;

constexpr std::uint64_t kMaxSafetensorsHeader = std::uint64_t{16} << 20;
constexpr std::size_t kLengthBytes = 8;
constexpr std::size_t kDataAlignment = 64;
constexpr std::size_t kMaxSafetensorsDimensions = 32;
/// JSON values of an entry: the entry itself, its type, two lists, two offsets and the dimensions.
constexpr std::size_t kMaxEntryValues = 6 + kMaxSafetensorsDimensions;
constexpr const char* kMetadataKey = "__metadata__";

constexpr std::pair<std::string_view, DType> kDTypes[] = {
    {"F16", DType::f16}, {"BF16", DType::bf16}, {"F32", DType::f32}, {"F64", DType::f64},
    {"I8", DType::i8},   {"I16", DType::i16},   {"I32", DType::i32}, {"I64", DType::i64},
    {"U8", DType::u8},   {"U16", DType::u16},   {"U32", DType::u32}, {"U64", DType::u64}};

/// One tensor as the header describes it; offsets count from the end of the header.
struct Entry {
  std::string name;
  DType dtype = DType::f32;
  std::vector<std::int64_t> shape;
  std::uint64_t begin = 0;
  std::uint64_t end = 0;
};

std::uint64_t read_length(std::string_view bytes, const std::string& file) {
  if (bytes.size() < kLengthBytes)
    throw Error(fmt::format("{}: {} bytes are too few for a .safetensors file; it is truncated",
                            file, bytes.size()));
  std::uint64_t length = 0;
  for (std::size_t i = kLengthBytes; i-- > 0;)
    length = length << 8 | static_cast<unsigned char>(bytes[i]);
  if (length > kMaxSafetensorsHeader)
    throw Error(fmt::format(
        "{}: not a .safetensors file: its first 8 bytes give a header of {} bytes, at most {} are "
        "allowed",
        file, length, kMaxSafetensorsHeader));
  if (length > bytes.size() - kLengthBytes)
    throw Error(fmt::format("{}: the file is truncated: the header takes {} bytes but {} follow",
                            file, length, bytes.size() - kLengthBytes));
  return length;
}

Json parse_header(std::string_view text, const std::string& file) {
  if (text.empty() || text[0] != '{')
    throw Error(
        fmt::format("{}: not a .safetensors file: its header does not begin with '{{'", file));
  return load_json(
      text, file + ": the header",
      {.bytes = kMaxSafetensorsHeader, .depth = 4, .values = kMaxTensors * kMaxEntryValues});
}

std::optional<std::vector<std::uint64_t>> unsigned_list(const Json& json) {
  if (!json.is_array()) return std::nullopt;
  std::vector<std::uint64_t> result;
  for (const Json& item : json) {
    if (!item.is_number_unsigned()) return std::nullopt;
    result.push_back(item.get<std::uint64_t>());
  }
  return result;
}

/// The value of `key` in a tensor's description.
const Json& field(const Json& tensor, const char* key, const std::string& where) {
  const auto found = tensor.find(key);
  if (found == tensor.end()) throw Error(fmt::format("{}: the header gives no '{}'", where, key));
  return *found;
}

DType parse_dtype(const Json& json, const std::string& where) {
  const std::string name = json.is_string() ? json.get<std::string>() : json.type_name();
  for (const auto& [known, dtype] : kDTypes)
    if (known == name) return dtype;
  throw Error(fmt::format(
      "{}: dtype {} is not supported; use one of F16 BF16 F32 F64 I8 I16 I32 I64 U8 U16 U32 U64",
      where, in_quotes(name)));
}

std::vector<std::int64_t> parse_shape(const Json& json, const std::string& where) {
  const auto dims = unsigned_list(json);
  if (!dims)
    throw Error(fmt::format("{}: 'shape' is not a list of dimensions of 0 or more", where));
  if (dims->size() > kMaxSafetensorsDimensions)
    throw Error(fmt::format("{}: 'shape' has {} dimensions, at most {} are allowed", where,
                            dims->size(), kMaxSafetensorsDimensions));
  std::vector<std::int64_t> shape;
  for (const std::uint64_t dim : *dims) {
    if (dim > static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max()))
      throw Error(fmt::format("{}: dimension {} does not fit in memory", where, dim));
    shape.push_back(static_cast<std::int64_t>(dim));
  }
  return shape;
}

/// Bytes of a tensor; nullopt when their number overflows.
std::optional<std::uint64_t> byte_size(const std::vector<std::int64_t>& shape, DType dtype) {
  std::uint64_t size = size_of(dtype);
  bool empty = false;
  for (const std::int64_t dim : shape) {
    empty = empty || dim == 0;
    const auto factor = static_cast<std::uint64_t>(std::max<std::int64_t>(dim, 1));
    if (size > (std::uint64_t{1} << 58) / factor) return std::nullopt;
    size *= factor;
  }
  return empty ? 0 : size;
}

Entry parse_entry(const std::string& name, const Json& json, const std::string& file) {
  const std::string where = fmt::format("{}: tensor {}", file, in_quotes(name));
  if (!json.is_object()) throw Error(fmt::format("{}: the header's entry is not an object", where));
  Entry entry{name, parse_dtype(field(json, "dtype", where), where),
              parse_shape(field(json, "shape", where), where)};
  const auto offsets = unsigned_list(field(json, "data_offsets", where));
  if (!offsets || offsets->size() != 2 || (*offsets)[0] > (*offsets)[1])
    throw Error(
        fmt::format("{}: 'data_offsets' is not a pair [begin, end] with begin ≤ end", where));
  entry.begin = (*offsets)[0];
  entry.end = (*offsets)[1];
  const auto needed = byte_size(entry.shape, entry.dtype);
  if (!needed || *needed != entry.end - entry.begin)
    throw Error(fmt::format("{}: shape {} of {} needs {} bytes but data_offsets [{}, {}] hold {}",
                            where, shape_to_string(entry.shape), to_string(entry.dtype),
                            needed ? std::to_string(*needed) : "too many", entry.begin, entry.end,
                            entry.end - entry.begin));
  return entry;
}

/// Throws unless the entries, in the order of their offsets, tile the data exactly.
void check_tiling(std::vector<Entry>& entries, std::uint64_t data_size, const std::string& file) {
  std::sort(entries.begin(), entries.end(), [](const Entry& a, const Entry& b) {
    return std::tie(a.begin, a.end, a.name) < std::tie(b.begin, b.end, b.name);
  });
  std::uint64_t expected = 0;
  for (const Entry& entry : entries) {
    if (entry.begin != expected)
      throw Error(
          fmt::format("{}: tensor {} begins at byte {} of the data but the one before ends at {}",
                      file, in_quotes(entry.name), entry.begin, expected));
    if (entry.end > data_size)
      throw Error(
          fmt::format("{}: tensor {} ends at byte {} but the data has {}; the file is truncated",
                      file, in_quotes(entry.name), entry.end, data_size));
    expected = entry.end;
  }
  if (expected != data_size)
    throw Error(fmt::format("{}: the tensors take {} bytes but the data has {}", file, expected,
                            data_size));
}

std::map<std::string, std::string> parse_metadata(const Json& json, const std::string& file) {
  if (!json.is_object()) throw Error(fmt::format("{}: '{}' is not an object", file, kMetadataKey));
  std::map<std::string, std::string> result;
  for (const auto& [key, value] : json.items()) {
    if (!value.is_string())
      throw Error(fmt::format("{}: '{}' gives {} a value that is not a string", file, kMetadataKey,
                              in_quotes(key)));
    result.emplace(key, value.get<std::string>());
  }
  return result;
}

/// Names in file order: first the tensors of a multiple of 64 bytes, then by descending element
/// size, so that every tensor is aligned to its element size without gaps.
std::vector<std::string> file_order(const TensorMap& tensors) {
  std::vector<std::string> names;
  for (const auto& [name, tensor] : tensors) names.push_back(name);
  const auto key = [&](const std::string& name) {
    const Tensor& tensor = tensors.at(name);
    return std::make_tuple(tensor.size_bytes() % kDataAlignment != 0,
                           -static_cast<int>(size_of(tensor.dtype())));
  };
  std::stable_sort(names.begin(), names.end(),
                   [&](const std::string& a, const std::string& b) { return key(a) < key(b); });
  return names;
}

/// A member of a JSON object. Throws Json::exception for invalid UTF-8.
std::string member_text(const std::string& key, const nlohmann::ordered_json& value) {
  return Json(key).dump() + ":" + value.dump();
}

/// The members are joined as text: an ordered object of JSON looks for a key among all others.
std::string make_header(const TensorMap& tensors, const std::vector<std::string>& names,
                        const std::map<std::string, std::string>& metadata,
                        const std::string& file) {
  std::string text;
  const auto add = [&](const std::string& key, const nlohmann::ordered_json& value) {
    try {
      text += (text.empty() ? "{" : ",") + member_text(key, value);
    } catch (const Json::exception&) {
      throw Error(fmt::format("{}: a tensor name or metadata entry is not valid UTF-8", file));
    }
  };
  if (!metadata.empty()) add(kMetadataKey, metadata);
  std::uint64_t at = 0;
  for (const std::string& name : names) {
    const Tensor& tensor = tensors.at(name);
    if (name == kMetadataKey)
      throw Error(fmt::format("{}: no tensor may be named '{}'", file, name));
    const auto* const dtype =
        std::find_if(std::begin(kDTypes), std::end(kDTypes),
                     [&](const auto& candidate) { return candidate.second == tensor.dtype(); });
    check(dtype != std::end(kDTypes), "every dtype has a name in a safetensors file");
    add(name, {{"dtype", dtype->first},
               {"shape", tensor.shape()},
               {"data_offsets", {at, at + tensor.size_bytes()}}});
    at += tensor.size_bytes();
  }
  text += text.empty() ? "{}" : "}";
  const std::size_t excess = (kLengthBytes + text.size()) % kDataAlignment;
  if (excess != 0) text.append(kDataAlignment - excess, ' ');
  return text;
}

/// The tensor whose bytes are `stored`: these bytes if `owner` keeps them and elements are aligned
/// there, else a copy.
Tensor tensor_of(const Entry& entry, std::string_view stored, const Pages& owner) {
  auto* bytes = const_cast<std::byte*>(reinterpret_cast<const std::byte*>(stored.data()));
  if (owner && reinterpret_cast<std::uintptr_t>(bytes) % size_of(entry.dtype) == 0) {
    const auto in_place = [=, dtype = entry.dtype, shape = entry.shape] {
      return Tensor(dtype, shape, {owner, bytes});
    };
    return {
        entry.dtype, entry.shape,
        DeferredTensor{.make = in_place, .stored = stored, .conversion = "", .is_mapped = true}};
  }
  Tensor tensor(entry.dtype, entry.shape);
  if (!stored.empty()) std::memcpy(tensor.mutable_bytes(), stored.data(), stored.size());
  return tensor;
}

SafetensorsFile read(std::string_view bytes, const std::string& file, const Pages& owner) {
  const std::uint64_t length = read_length(bytes, file);
  const Json header = parse_header(bytes.substr(kLengthBytes, length), file);
  const std::string_view data = bytes.substr(kLengthBytes + length);
  SafetensorsFile result;
  std::vector<Entry> entries;
  for (const auto& [name, json] : header.items()) {
    if (name == kMetadataKey)
      result.metadata = parse_metadata(json, file);
    else
      entries.push_back(parse_entry(name, json, file));
  }
  if (entries.size() > kMaxTensors)
    throw Error(fmt::format("{}: the header names {} tensors, at most {} are read", file,
                            entries.size(), kMaxTensors));
  check_tiling(entries, data.size(), file);
  for (const Entry& entry : entries)
    result.tensors.emplace(
        entry.name, tensor_of(entry, data.substr(entry.begin, entry.end - entry.begin), owner));
  return result;
}

}  // namespace

TensorMap read_safetensors(const std::string& path) { return read_safetensors_file(path).tensors; }

SafetensorsFile read_safetensors_file(std::string_view bytes, const std::string& name_for_errors) {
  return read(bytes, name_for_errors, nullptr);
}

SafetensorsFile read_safetensors_file(const std::string& path) {
  return read_safetensors_file(map_file(path), path);
}

SafetensorsFile read_safetensors_file(const MappedFile& file, const std::string& path) {
  return read({reinterpret_cast<const char*>(file.bytes.get()), file.size}, path, file.bytes);
}

void write_safetensors(const std::string& path, const TensorMap& tensors,
                       const std::map<std::string, std::string>& metadata) {
  const std::vector<std::string> names = file_order(tensors);
  const std::string header = make_header(tensors, names, metadata, path);
  std::string length;
  for (std::size_t i = 0; i < kLengthBytes; ++i)
    length += static_cast<char>(header.size() >> (8 * i) & 0xFF);
  std::vector<std::string_view> parts = {length, header};
  for (const std::string& name : names) {
    const Tensor& tensor = tensors.at(name);
    parts.emplace_back(reinterpret_cast<const char*>(tensor.bytes()), tensor.size_bytes());
  }
  write_file_atomically(path, parts);
}

}  // namespace fuselage
