// seeds CORPUS MODEL.npz...: writes a small version of each model, in every format that the fuzzers
// read, and files of cached weights, into the folders of CORPUS named after the fuzzers.

#include <cstdio>
#include <exception>
#include <filesystem>
#include <regex>
#include <string>
#include <vector>

#include "base/files/file.h"
#include "fuselage/models/architectures/architecture.h"
#include "fuselage/models/directory/model_directory.h"
#include "fuselage/models/formats/safetensors.h"
#include "fuselage/models/load_model.h"
#include "fuzz/model_bundle.h"
#include "fuzz/weight_cache.h"
#include "fuzz/zip.h"
#include "models/architectures/embedding_tables.h"
#include "models/formats/npz.h"
#include "models/quantized/quantize_model.h"
#include "tests/models/ctranslate2_writer.h"
#include "tests/models/marian_bin_writer.h"

namespace {

using namespace fuselage;
namespace fs = std::filesystem;

constexpr std::int64_t kWords = 1000, kSmallWords = 6, kFactor = 8;

std::int64_t small_size(std::int64_t size) {
  if (size == kWords) return kSmallWords;
  return size % kFactor == 0 ? size / kFactor : size;
}

/// A tensor of the reduced shape with the first numbers of `tensor`.
Tensor small_tensor(const Tensor& tensor) {
  std::vector<std::int64_t> shape;
  for (const std::int64_t size : tensor.shape()) shape.push_back(small_size(size));
  Tensor result(DType::f32, shape);
  std::copy_n(tensor.data<float>(), result.size(), result.mutable_data<float>());
  return result;
}

/// The options with the reduced sizes.
std::string small_options(const std::string& yaml) {
  static const std::regex size("(dim-emb|dim-rnn|dim-ffn|  -)(:?) (1000|[0-9]*[02468])\n");
  std::string result;
  auto begin = yaml.begin();
  for (std::sregex_iterator at(yaml.begin(), yaml.end(), size), end; at != end; ++at) {
    const std::smatch& match = *at;
    result.append(begin, match[0].first);
    result += match[1].str() + match[2].str() + ' ' +
              std::to_string(small_size(std::stoll(match[3]))) + '\n';
    begin = match[0].second;
  }
  result.append(begin, yaml.end());
  return result;
}

template <typename T>
std::string little_endian(T value) {
  return support::bytes_of(value);
}

std::string npy(const std::string& type, const std::string& shape, const std::string& data) {
  std::string header =
      "{'descr': '" + type + "', 'fortran_order': False, 'shape': (" + shape + "), }";
  header += std::string(63 - (header.size() + 10) % 64, ' ') + '\n';
  return std::string("\x93NUMPY\1\0", 8) +
         little_endian(static_cast<std::uint16_t>(header.size())) + header + data;
}

std::string npz_of(const TensorMap& tensors, const std::string& options) {
  std::vector<std::pair<std::string, std::string>> members;
  for (const auto& [name, tensor] : tensors) {
    std::string shape;
    for (const std::int64_t size : tensor.shape()) shape += std::to_string(size) + ", ";
    members.emplace_back(
        name + ".npy",
        npy("<f4", shape,
            std::string(reinterpret_cast<const char*>(tensor.bytes()), tensor.size_bytes())));
  }
  members.emplace_back("special:model.yml.npy",
                       npy("|i1", std::to_string(options.size()) + ",", options));
  return stored_zip(members);
}

std::string bin_of(const TensorMap& tensors, const std::string& options) {
  std::vector<support::BinItem> items;
  for (const auto& [name, tensor] : tensors) items.push_back(support::plain_item(name, tensor));
  items.push_back(support::config_item(options));
  return support::marian_bin(items);
}

/// The corpus to which seeds are written.
class Corpus {
 public:
  explicit Corpus(fs::path folder) : folder_(std::move(folder)) {}

  void add(const std::string& fuzzer, const std::string& name, const std::string& bytes) const {
    fs::create_directories(folder_ / fuzzer);
    write_file_atomically((folder_ / fuzzer / name).string(), bytes);
  }

  /// Adds the files of a model directory, separately and as a bundle.
  void add_directory(const std::string& name, const Model& model) const {
    const std::string directory = (fs::temp_directory_path() / ("fuselage-seed-" + name)).string();
    save_model_directory(model, {}, directory);
    ModelBundle bundle;
    for (const std::string_view file : kBundledFiles)
      bundle.emplace_back(file, read_file(directory + "/" + std::string(file)));
    fs::remove_all(directory);
    add("model_config", name + ".json", bundle[0].second);
    add("graph_text", name + ".ir", bundle[1].second);
    add("safetensors", name + ".safetensors", bundle[2].second);
    add("model", name, print_model_bundle(bundle));
  }

 private:
  fs::path folder_;
};

/// Adds a model with tables in 8 bits and other matrices in `bits`.
void add_quantized(const Corpus& corpus, const std::string& name, Model model, int bits) {
  const auto storage_of = [bits](const std::string& matrix) -> MatrixStorage {
    if (matrix.find("emb") != std::string::npos) return {.quantizer = Quantizer{}};
    return {.quantizer = Quantizer{.to = DType::qlog4, .largest = 128, .bits = bits}};
  };
  store_matrices(model, storage_of);
  model.decode.precision = Precision::stored;
  corpus.add_directory(name + ".int" + std::to_string(bits), model);
}

void add_seeds(const Corpus& corpus, const std::string& path) {
  const std::string name = fs::path(path).parent_path().filename();
  const NpzFile file = read_npz(path);
  TensorMap tensors;
  for (const auto& [parameter, tensor] : file.tensors)
    tensors.emplace(parameter, small_tensor(tensor.to_f32()));
  const std::string options = small_options(file.config_yaml) + '\0';
  const std::string npz = npz_of(tensors, options), bin = bin_of(tensors, options);
  corpus.add("marian_options", name + ".yml", options.substr(0, options.size() - 1));
  for (const char* fuzzer : {"npz", "model"}) corpus.add(fuzzer, name + ".npz", npz);
  for (const char* fuzzer : {"marian_bin", "model"}) corpus.add(fuzzer, name + ".bin", bin);
  const fs::path temporary = fs::temp_directory_path() / ("fuselage-seed-" + name + ".npz");
  write_file_atomically(temporary.string(), npz);
  const Model model = load_model(temporary.string());
  fs::remove(temporary);
  corpus.add_directory(name, model);
  for (int bits = 1; bits <= 4; ++bits) add_quantized(corpus, name, model, bits);
}

/// Adds files of CTranslate2 of several versions.
void add_ctranslate2(const Corpus& corpus) {
  support::Ctranslate2Model model;
  for (const std::uint32_t version : {6U, 5U, 2U}) {
    model.header.version = version;
    corpus.add("ctranslate2", std::to_string(version) + ".bin", model.bytes());
  }
}

/// A directory of Transformers by its files: a class, its options, and whether it is in shards.
void add_huggingface(const Corpus& corpus, const std::string& class_name, std::string options,
                     bool is_sharded) {
  options += R"("vocab_size": 8, "d_model": 8, "max_position_embeddings": 16)";
  TensorMap weights =
      build_random_model(class_name, ModelOptions::from_yaml("{" + options + "}", "seed"), 1)
          .weights;
  weights.erase(kDecoderStart);
  const fs::path path = fs::temp_directory_path() / "fuselage-seed.safetensors";
  write_safetensors(path.string(), weights, {});
  std::string map;
  for (const auto& [name, tensor] : weights)
    map += (map.empty() ? "\"" : ", \"") + name + R"(": "model-1.safetensors")";
  ModelBundle bundle;
  for (const std::string_view file : kHuggingFaceFiles) bundle.emplace_back(file, "");
  bundle[0].second = R"({"architectures": [")" + class_name + R"("], )" + options + "}";
  bundle[1].second =
      R"({"decoder_start_token_id": 2, "eos_token_id": 2, "forced_bos_token_id": 3, "max_length": )"
      R"(20, "num_beams": 4, "early_stopping": true, "bad_words_ids": [[1]]})";
  bundle[2].second =
      R"({"tokenizer_class": "NllbTokenizer", "src_lang": "eng_Latn", "extra_special_tokens": )"
      R"([{"content": "eng_Latn"}, "deu_Latn"]})";
  bundle[3].second = R"({"additional_special_tokens": ["de_DE"]})";
  if (is_sharded) bundle[4].second = R"({"weight_map": {)" + map + "}}";
  if (!is_sharded) bundle[5].second = R"({"</s>": 0, "<unk>": 1, ">>de<<": 2, "<pad>": 7})";
  bundle[6].second = read_file(path.string());
  fs::remove(path);
  corpus.add("huggingface", class_name, print_model_bundle(bundle));
}

void add_huggingface(const Corpus& corpus) {
  const std::string bart =
      R"("encoder_layers": 1, "decoder_layers": 1, "encoder_attention_heads": 2, )"
      R"("decoder_attention_heads": 4, "encoder_ffn_dim": 6, "decoder_ffn_dim": 4, )"
      R"("scale_embedding": true, "activation_function": "relu", )";
  const std::string t5 =
      R"("num_layers": 1, "num_heads": 2, "d_kv": 3, "d_ff": 6, "layer_norm_epsilon": 1e-6, )"
      R"("relative_attention_num_buckets": 4, "relative_attention_max_distance": 9, )"
      R"("feed_forward_proj": "gated-gelu", "tie_word_embeddings": false, )";
  for (const char* name : {"MarianMTModel", "BartForConditionalGeneration",
                           "MBartForConditionalGeneration", "M2M100ForConditionalGeneration"})
    add_huggingface(corpus, name, bart, name[0] == 'M' && name[1] == 'B');
  for (const char* name : {"T5ForConditionalGeneration", "MT5ForConditionalGeneration",
                           "UMT5ForConditionalGeneration"})
    add_huggingface(corpus, name, t5, name[0] == 'U');
}

/// Adds files of cached weights of several sizes.
void add_cached_weights(const Corpus& corpus) {
  const std::string directory = (fs::temp_directory_path() / "fuselage-seed-weights").string();
  const cpu::WeightCache cache = weight_cache_in(directory);
  for (const std::size_t size : {0, 1, 64, 1000}) {
    cache.store(std::string(size, 'w'));
    corpus.add("weight_cache", std::to_string(size) + ".weights", read_file(cache.path()));
  }
  fs::remove_all(directory);
}

}  // namespace

int main(int count, char** arguments) {
  try {
    const Corpus corpus(arguments[1]);
    for (int i = 2; i < count; ++i) add_seeds(corpus, arguments[i]);
    add_ctranslate2(corpus);
    add_huggingface(corpus);
    add_cached_weights(corpus);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 1;
  }
  return 0;
}
