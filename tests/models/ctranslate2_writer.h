#pragma once

#include <cstdint>
#include <cstring>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "base/files/file.h"
#include "fuselage/base/tensor.h"
#include "tests/models/marian_bin_writer.h"

namespace fuselage::support {

/// A variable of CTranslate2's model.bin. Types: f32, i8, i16, i32, f16, bf16.
struct Ctranslate2Item {
  std::string name;
  std::vector<std::uint32_t> shape;
  std::uint8_t type = 0;
  std::string data;
};

/// A text of model.bin: its length with the NUL behind it.
inline std::string ctranslate2_text(const std::string& text) {
  return bytes_of(static_cast<std::uint16_t>(text.size() + 1)) + text + '\0';
}

struct Ctranslate2Header {
  std::uint32_t version = 6;
  std::string kind = "TransformerSpec";
  std::uint32_t revision = 7;
};

/// The bytes of model.bin, as CTranslate2's ModelSpec writes them.
inline std::string ctranslate2_bin(
    const std::vector<Ctranslate2Item>& items,
    const std::vector<std::pair<std::string, std::string>>& aliases = {},
    const Ctranslate2Header& header = {}) {
  std::string file = bytes_of(header.version) + ctranslate2_text(header.kind) +
                     bytes_of(header.revision) + bytes_of(static_cast<std::uint32_t>(items.size()));
  constexpr std::uint8_t kSizes[] = {4, 1, 2, 4, 2, 2};
  for (const Ctranslate2Item& item : items) {
    file += ctranslate2_text(item.name) + bytes_of(static_cast<std::uint8_t>(item.shape.size()));
    for (const std::uint32_t dim : item.shape) file += bytes_of(dim);
    const std::uint8_t size = item.type < 6 ? kSizes[item.type] : 4;
    const auto bytes = static_cast<std::uint32_t>(item.data.size());
    file += header.version >= 4 ? bytes_of(item.type) + bytes_of(bytes)
                                : bytes_of(size) + bytes_of(bytes / size);
    file += item.data;
  }
  if (header.version < 3) return file;
  file += bytes_of(static_cast<std::uint32_t>(aliases.size()));
  for (const auto& [alias, name] : aliases)
    file += ctranslate2_text(alias) + ctranslate2_text(name);
  return file;
}

/// A small model of random numbers, of which tests change parts.
class Ctranslate2Model {
 public:
  static constexpr std::uint32_t kWidth = 8, kInner = 12, kHeads = 2, kSource = 7, kTarget = 6;

  Ctranslate2Model() : Ctranslate2Model(1) {}
  explicit Ctranslate2Model(std::uint32_t layers) {
    add("encoder/embeddings_0/weight", {kSource, kWidth});
    add("decoder/embeddings/weight", {kTarget, kWidth});
    add_linear("decoder/projection", kTarget, kWidth);
    for (const std::string side : {"encoder", "decoder"}) {
      attribute(side + "/num_heads", std::int16_t{kHeads});
      attribute(side + "/pre_norm", std::int8_t{1});
      attribute(side + "/activation", std::int8_t{0});
      attribute(side + "/scale_embeddings", std::int8_t{1});
      add_norm(side + "/layer_norm");
      for (std::uint32_t i = 0; i < layers; ++i) add_layer(side, i);
    }
  }

  /// Adds or replaces a variable with random numbers of f32.
  void add(const std::string& name, std::vector<std::uint32_t> shape) {
    std::uint32_t count = 1;
    for (const std::uint32_t dim : shape) count *= dim;
    std::vector<float> numbers(count);
    for (float& number : numbers) number = next();
    put(name, std::move(shape), 0, numbers);
  }

  template <typename T>
  void put(const std::string& name, std::vector<std::uint32_t> shape, std::uint8_t type,
           const std::vector<T>& numbers) {
    std::string data;
    for (const T& number : numbers) data += bytes_of(number);
    items[name] = {name, std::move(shape), type, data};
  }

  void attribute(const std::string& name, std::int8_t value) {
    items[name] = {name, {}, 1, bytes_of(value)};
  }
  void attribute(const std::string& name, std::int16_t value) {
    items[name] = {name, {}, 2, bytes_of(value)};
  }
  void attribute(const std::string& name, std::int32_t value) {
    items[name] = {name, {}, 3, bytes_of(value)};
  }
  void attribute(const std::string& name, float value) {
    items[name] = {name, {}, 0, bytes_of(value)};
  }

  std::vector<float> numbers(const std::string& name) const {
    const std::string& data = items.at(name).data;
    std::vector<float> result(data.size() / sizeof(float));
    std::memcpy(result.data(), data.data(), data.size());
    return result;
  }

  std::string bytes() const {
    std::vector<Ctranslate2Item> list;
    for (const auto& [name, item] : items) list.push_back(item);
    return ctranslate2_bin(list, aliases, header);
  }

  /// Writes the directory of the model, without vocabularies whose text is empty.
  void write(const std::string& directory) const {
    write_file_atomically(directory + "/model.bin", bytes());
    if (!config.empty()) write_file_atomically(directory + "/config.json", config);
    for (const auto& [name, text] : vocabularies)
      if (!text.empty()) write_file_atomically(directory + "/" + name, text);
  }

  std::map<std::string, Ctranslate2Item> items;
  std::vector<std::pair<std::string, std::string>> aliases;
  Ctranslate2Header header;
  std::string config =
      R"({"unk_token": "<unk>", "bos_token": "<s>", "eos_token": "</s>", "decoder_start_token": )"
      R"("<s>", "add_source_bos": false, "add_source_eos": true})";
  std::map<std::string, std::string> vocabularies = {
      {"source_vocabulary.json", R"(["<unk>", "<s>", "</s>", "a", "b", "c", "d"])"},
      {"target_vocabulary.json", R"(["<unk>", "<s>", "</s>", "x", "y", "z"])"}};

 private:
  void add_linear(const std::string& name, std::uint32_t out, std::uint32_t in) {
    add(name + "/weight", {out, in});
    add(name + "/bias", {out});
  }

  void add_norm(const std::string& name) {
    add(name + "/gamma", {kWidth});
    add(name + "/beta", {kWidth});
  }

  void add_layer(const std::string& side, std::uint32_t number) {
    const std::string layer = side + "/layer_" + std::to_string(number);
    add_norm(layer + "/self_attention/layer_norm");
    add_linear(layer + "/self_attention/linear_0", 3 * kWidth, kWidth);
    add_linear(layer + "/self_attention/linear_1", kWidth, kWidth);
    if (side == "decoder") {
      add_norm(layer + "/attention/layer_norm");
      add_linear(layer + "/attention/linear_0", kWidth, kWidth);
      add_linear(layer + "/attention/linear_1", 2 * kWidth, kWidth);
      add_linear(layer + "/attention/linear_2", kWidth, kWidth);
    }
    add_norm(layer + "/ffn/layer_norm");
    add_linear(layer + "/ffn/linear_0", kInner, kWidth);
    add_linear(layer + "/ffn/linear_1", kWidth, kInner);
  }

  float next() {
    state_ = state_ * 1664525 + 1013904223;
    return static_cast<float>(state_ >> 8) / 16777216.0F - 0.5F;
  }

  std::uint32_t state_ = 1;
};

}  // namespace fuselage::support
