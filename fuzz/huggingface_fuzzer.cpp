// A directory of Hugging Face's Transformers, from the bytes of its files to a model.

#include <unistd.h>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <string>
#include <string_view>
#include <system_error>

#include "base/files/file.h"
#include "fuselage/base/error.h"
#include "fuzz/check_message.h"
#include "fuzz/model_bundle.h"
#include "fuzz/mutate.h"
#include "models/decode_keys.h"
#include "models/huggingface/huggingface_directory.h"

namespace {

using namespace fuselage;

const std::filesystem::path& fresh_folder() {
  static const std::filesystem::path path =
      std::filesystem::temp_directory_path() / ("fuselage-fuzz-" + std::to_string(::getpid()));
  std::filesystem::remove_all(path);
  std::filesystem::create_directories(path);
  return path;
}

/// With a vocab.json the splitters are Marian's, else they are one of fairseq. Their files are only
/// looked for.
std::string path_of_directory(const ModelBundle& bundle) {
  const std::filesystem::path& folder = fresh_folder();
  for (const auto& [name, content] : bundle)
    if (!content.empty()) write_file_atomically((folder / name).string(), content);
  const bool is_marian = std::filesystem::exists(folder / "vocab.json");
  for (const char* name : {"source.spm", "target.spm"})
    if (is_marian) write_file_atomically((folder / name).string(), std::string_view());
  if (!is_marian)
    write_file_atomically((folder / "sentencepiece.bpe.model").string(), std::string_view());
  // Shards of an index are other files, so that it is read.
  std::error_code error;
  if (std::filesystem::exists(folder / "model.safetensors.index.json"))
    std::filesystem::rename(folder / "model.safetensors", folder / "model-1.safetensors", error);
  return folder.string();
}

/// Changes the header or the numbers, and corrects the header's size in the first 8 bytes.
void mutate_weights(std::string& file, std::size_t max_size, unsigned seed) {
  std::uint64_t header_bytes = 0;
  if (file.size() < sizeof header_bytes) return mutate(file, max_size);
  std::memcpy(&header_bytes, file.data(), sizeof header_bytes);
  if (header_bytes > file.size() - sizeof header_bytes) return mutate(file, max_size);
  std::string header = file.substr(sizeof header_bytes, header_bytes);
  const std::string data = file.substr(sizeof header_bytes + header_bytes);
  mutate(header, header.size() + max_size - file.size());
  header_bytes = header.size();
  std::memcpy(file.data(), &header_bytes, sizeof header_bytes);
  file = file.substr(0, sizeof header_bytes) + header + data;
  if (seed % 8 == 0) mutate(file, max_size);
}

}  // namespace

/// Changes one file. The configuration is most interesting.
extern "C" std::size_t LLVMFuzzerCustomMutator(std::uint8_t* data, std::size_t size,
                                               std::size_t max_size, unsigned seed) {
  std::string bytes(reinterpret_cast<const char*>(data), size);
  auto bundle = parse_model_bundle(bytes, kHuggingFaceFiles);
  if (!bundle || max_size <= size) {
    mutate(bytes, max_size);
    return hand_over(bytes, data, max_size);
  }
  const std::size_t chosen = seed % 16 < bundle->size() ? seed % 16 : 0;
  std::string& content = (*bundle)[chosen].second;
  const std::size_t most = content.size() + max_size - size;
  if (chosen + 1 == bundle->size())
    mutate_weights(content, most, seed / 16);
  else
    mutate(content, most);
  return hand_over(print_model_bundle(*bundle), data, max_size);
}

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view input(reinterpret_cast<const char*>(data), size);
  const auto bundle = parse_model_bundle(input, kHuggingFaceFiles);
  if (!bundle) return 0;
  try {
    verify(load_huggingface_directory(path_of_directory(*bundle)).decode);
  } catch (const Error& error) {
    check_message(error);
  }
  return 0;
}
