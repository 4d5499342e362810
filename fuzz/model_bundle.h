#pragma once

#include <array>
#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace fuselage {

/// The files of a model directory, by name and content.
using ModelBundle = std::vector<std::pair<std::string, std::string>>;

inline constexpr std::array<std::string_view, 3> kBundledFiles = {"config.json", "graph.ir",
                                                                  "weights.safetensors"};
/// The files of a directory of Hugging Face's Transformers. An empty one is not there.
inline constexpr std::array<std::string_view, 7> kHuggingFaceFiles = {
    "config.json",
    "generation_config.json",
    "tokenizer_config.json",
    "special_tokens_map.json",
    "model.safetensors.index.json",
    "vocab.json",
    "model.safetensors"};
inline constexpr std::string_view kBundleSeparator = "\n=====\n";

/// The concatenated files, with separators that mostly survive mutations.
inline std::string print_model_bundle(const ModelBundle& bundle) {
  std::string text;
  for (const auto& file : bundle)
    text += (&file == bundle.data() ? "" : std::string(kBundleSeparator)) + file.second;
  return text;
}

/// The inverse of print_model_bundle; nullopt for a text that does not begin with '{', as
/// config.json does.
inline std::optional<ModelBundle> parse_model_bundle(
    std::string_view text, std::span<const std::string_view> files = kBundledFiles) {
  if (!text.starts_with('{')) return std::nullopt;
  ModelBundle bundle;
  for (const std::string_view name : files) {
    // The last file may contain the separator.
    const std::size_t end = name == files.back() ? text.npos : text.find(kBundleSeparator);
    bundle.emplace_back(name, text.substr(0, end));
    text.remove_prefix(end == text.npos ? text.size() : end + kBundleSeparator.size());
  }
  return bundle;
}

}  // namespace fuselage
