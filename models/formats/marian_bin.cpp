#include "models/formats/marian_bin.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <memory>
#include <vector>

#include "base/files/mapped_memory.h"
#include "base/suggest.h"
#include "fuselage/base/error.h"
#include "models/formats/byte_cursor.h"
#include "models/formats/compressed_model.h"
#include "models/formats/foreign_models.h"
#include "models/formats/intgemm.h"
#include "models/limits.h"

namespace fuselage {
namespace {

constexpr std::uint64_t kPlain = 1;
constexpr std::uint64_t kEncrypted = 2;
constexpr std::uint64_t kMaxMarianBinDimensions = 32;
constexpr std::uint64_t kMaxElements = std::uint64_t{1} << 32;
constexpr std::string_view kConfigItem = "special:model.yml";

struct PlainType {
  std::uint64_t code;
  DType dtype;
};
constexpr std::array<PlainType, 11> kPlainTypes{{{0x101, DType::i8},
                                                 {0x102, DType::i16},
                                                 {0x104, DType::i32},
                                                 {0x108, DType::i64},
                                                 {0x201, DType::u8},
                                                 {0x202, DType::u16},
                                                 {0x204, DType::u32},
                                                 {0x208, DType::u64},
                                                 {0x402, DType::f16},
                                                 {0x404, DType::f32},
                                                 {0x408, DType::f64}}};

struct FbgemmType {
  std::uint64_t code;
  std::string_view name;
};
constexpr std::array<FbgemmType, 3> kFbgemmTypes{
    {{0x802, "packed16"}, {0x1801, "packed8avx2"}, {0x2801, "packed8avx512"}}};

struct Item {
  std::string name;
  std::uint64_t type = 0;
  std::uint64_t name_length = 0, dimensions = 0, data_length = 0;
  std::vector<std::int64_t> shape;
  std::string_view data;
};

template <typename Types>
auto find_type(const Types& types, std::uint64_t code) {
  const auto found = std::find_if(types.begin(), types.end(),
                                  [code](const auto& type) { return type.code == code; });
  return found == types.end() ? nullptr : &*found;
}

std::string place_of(const Item& item, const std::string& file) {
  return fmt::format("{}: item {}", file, in_quotes(item.name));
}

// --- The directory of items ---

void check_version(std::uint64_t version, const std::string& file) {
  if (version == kEncrypted)
    throw Error(
        fmt::format("{}: the file is encrypted (version {} of the format); give the plain model",
                    file, version));
  if (version != kPlain)
    throw Error(fmt::format(
        "{}: not a Marian .bin file, or one that is compressed: version {} of the format "
        "is not known, only {}",
        file, version, kPlain));
}

std::vector<Item> read_sizes(ByteCursor& cursor, const std::string& file) {
  const auto count = cursor.number<std::uint64_t>("the number of items");
  constexpr std::uint64_t kEntryBytes = 4 * sizeof(std::uint64_t);
  if (count > cursor.remaining() / kEntryBytes)
    throw Error(fmt::format(
        "{}: the file is truncated: {} items take {} bytes each in its header but {} follow", file,
        count, kEntryBytes, cursor.remaining()));
  if (count > kMaxTensors)
    throw Error(
        fmt::format("{}: the file has {} items, at most {} are read", file, count, kMaxTensors));
  std::vector<Item> items(count);
  for (Item& item : items) {
    item.name_length = cursor.number<std::uint64_t>("the header");
    item.type = cursor.number<std::uint64_t>("the header");
    item.dimensions = cursor.number<std::uint64_t>("the header");
    item.data_length = cursor.number<std::uint64_t>("the header");
  }
  return items;
}

void read_name(ByteCursor& cursor, Item& item, const std::string& file) {
  const std::string_view name = cursor.take(item.name_length, "the name of an item");
  if (name.size() < 2 || name.find('\0') != name.size() - 1)
    throw Error(fmt::format(
        "{}: the name {} of an item does not end where its length of {} says; the file is "
        "damaged",
        file, in_quotes(name), name.size()));
  item.name = name.substr(0, name.size() - 1);
}

void read_shape(ByteCursor& cursor, Item& item, const std::string& file) {
  if (item.dimensions > kMaxMarianBinDimensions)
    throw Error(fmt::format("{}: it has {} dimensions, at most {} are allowed",
                            place_of(item, file), item.dimensions, kMaxMarianBinDimensions));
  for (std::uint64_t d = 0; d < item.dimensions; ++d)
    item.shape.push_back(cursor.number<std::int32_t>("a shape"));
  for (const std::int64_t dim : item.shape)
    if (dim < 0)
      throw Error(fmt::format("{}: shape {} has a negative dimension", place_of(item, file),
                              shape_to_string(item.shape)));
}

std::vector<Item> read_items(std::string_view bytes, const std::string& file) {
  ByteCursor cursor(bytes, file);
  // Here too, since the file may be compressed.
  refuse_foreign_model(bytes.substr(0, kForeignHeadBytes), file);
  check_version(cursor.number<std::uint64_t>("the version"), file);
  std::vector<Item> items = read_sizes(cursor, file);
  for (Item& item : items) read_name(cursor, item, file);
  for (Item& item : items) read_shape(cursor, item, file);
  cursor.take(cursor.number<std::uint64_t>("the length of the padding"), "the padding");
  for (Item& item : items)
    item.data = cursor.take(item.data_length, fmt::format("item {}", in_quotes(item.name)));
  if (cursor.remaining() > 0)
    throw Error(fmt::format("{}: {} bytes follow the last item; the file is damaged", file,
                            cursor.remaining()));
  return items;
}

// --- The data of an item ---

std::uint64_t element_count(const Item& item, const std::string& where) {
  std::uint64_t count = 1;
  bool empty = false;
  for (const std::int64_t dim : item.shape) {
    empty = empty || dim == 0;
    const auto factor = static_cast<std::uint64_t>(std::max<std::int64_t>(dim, 1));
    if (factor > kMaxElements / count)
      throw Error(fmt::format("{}: shape {} has more than the {} elements that an item may have",
                              where, shape_to_string(item.shape), kMaxElements));
    count *= factor;
  }
  return empty ? 0 : count;
}

void check_length(const Item& item, std::string_view type, std::uint64_t needed,
                  const std::string& where) {
  if (needed > item.data.size())
    throw Error(fmt::format("{}: shape {} of {} needs {} bytes but the item has {}", where,
                            shape_to_string(item.shape), type, needed, item.data.size()));
}

/// Whether an item is a table of embeddings that is stored row by row.
bool is_table(const IntgemmType& type, const std::string& name) {
  return type.tables_by_rows && name.find("Wemb") != std::string::npos;
}

Tensor read_quantized(const Item& item, const IntgemmData& data) {
  const std::uint64_t elements = element_count(item, data.where);
  check_length(item, data.type.name, intgemm_bytes(data.type, elements), data.where);
  if (elements == 0 || item.shape.empty())
    throw Error(fmt::format("{}: {} of shape {} is no matrix", data.where, data.type.name,
                            shape_to_string(item.shape)));
  if (is_table(data.type, item.name)) return read_intgemm_rows(data, item.shape);
  const std::int64_t n = item.shape.back();
  const std::int64_t k = static_cast<std::int64_t>(elements) / n;
  return read_intgemm_columns(data, k, n);
}

Tensor read_plain(const Item& item, DType dtype, const std::string& where) {
  check_length(item, to_string(dtype), element_count(item, where) * size_of(dtype), where);
  Tensor tensor(dtype, item.shape);
  std::memcpy(tensor.mutable_bytes(), item.data.data(), tensor.size_bytes());
  return tensor;
}

Tensor read_tensor(const Item& item, const std::shared_ptr<const void>& owner,
                   const std::string& where) {
  if (const PlainType* type = find_type(kPlainTypes, item.type))
    return read_plain(item, type->dtype, where);
  if (const IntgemmType* type = find_intgemm_type(item.type))
    return read_quantized(item, {*type, item.data, owner, where});
  if (const FbgemmType* type = find_type(kFbgemmTypes, item.type))
    throw Error(fmt::format(
        "{}: it is packed for FBGEMM ({}), which is not supported; give the .npz that the "
        "file was made from, or convert that to float32 or intgemm8",
        where, type->name));
  throw Error(fmt::format("{}: type {:#x} is not known", where, item.type));
}

std::string config_text(const Item& item, const std::string& where) {
  const PlainType* type = find_type(kPlainTypes, item.type);
  if (type == nullptr || size_of(type->dtype) != 1)
    throw Error(
        fmt::format("{}: the model's options have type {:#x}, bytes (0x101 or 0x201) are needed",
                    where, item.type));
  return std::string(item.data.substr(0, item.data.find('\0')));
}

/// `owner` keeps the bytes for tensors that are made later; without it all are made at once.
MarianBinFile read_file_bytes(std::string_view bytes, const std::shared_ptr<const void>& owner,
                              const std::string& name_for_errors) {
  MarianBinFile result;
  for (const Item& item : read_items(bytes, name_for_errors)) {
    const std::string where = place_of(item, name_for_errors);
    if (item.name == kConfigItem)
      result.config_yaml = config_text(item, where);
    else if (!item.name.starts_with("special:") &&
             !result.tensors.emplace(item.name, read_tensor(item, owner, where)).second)
      throw Error(fmt::format("{}: the file has two items of that name", where));
  }
  if (result.tensors.empty())
    throw Error(fmt::format("{}: the file holds no parameter; a model is needed", name_for_errors));
  return result;
}

}  // namespace

MarianBinFile read_marian_bin(std::string_view bytes, const std::string& name_for_errors) {
  return read_file_bytes(bytes, nullptr, name_for_errors);
}

MarianBinFile read_marian_bin(const std::string& path) {
  if (is_compressed_model(path)) return read_marian_bin(read_compressed_model(path), path);
  const MappedFile file = map_file(path);
  return read_file_bytes({reinterpret_cast<const char*>(file.bytes.get()), file.size}, file.bytes,
                         path);
}

}  // namespace fuselage
