#include "models/formats/foreign_models.h"

#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <optional>
#include <system_error>
#include <vector>

#include "base/files/compression.h"
#include "base/files/file.h"
#include "base/files/open_file.h"
#include "base/suggest.h"
#include "fuselage/base/error.h"
#include "models/formats/json.h"

namespace fuselage {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kStoreParameters =
    "store its parameters as .safetensors, and give a .yml that names them and an architecture";

/// What is known of a file.
struct ForeignHead {
  std::string_view bytes;
  std::string_view name;  ///< without folder and compression

  bool has(std::string_view text) const { return bytes.find(text) != std::string_view::npos; }

  /// The number of T, least significant byte first, at `at`; 0 beyond the end.
  template <typename T>
  T number(std::size_t at) const {
    T value = 0;
    if (at + sizeof value <= bytes.size()) std::memcpy(&value, bytes.data() + at, sizeof value);
    return value;
  }
};

bool is_printable(std::string_view text) {
  return !text.empty() &&
         std::all_of(text.begin(), text.end(), [](char c) { return c > ' ' && c < '\x7f'; });
}

/// CTranslate2: a version, from 2 on the name of the kind of model, then the number of variables
/// and the name of the first one. Names have their length with the NUL behind them.
bool is_ctranslate2(const ForeignHead& head) {
  const auto version = head.number<std::uint32_t>(0);
  // The version of Marian's .bin has 64 bits.
  if (version == 0 || version > 1000 || (version == 1 && head.number<std::uint32_t>(4) == 0))
    return false;
  const std::size_t at = version == 1 ? 8 : 4;
  const std::size_t length = head.number<std::uint16_t>(at);
  if (length < 2 || at + 2 + length > head.bytes.size()) return false;
  const std::string_view name = head.bytes.substr(at + 2, length);
  return name.back() == '\0' && is_printable(name.substr(0, length - 1));
}

/// A pickle, from protocol 2 on.
bool is_pickle(const ForeignHead& head) {
  return head.bytes.size() > 2 && head.bytes[0] == '\x80' && head.bytes[1] >= 2 &&
         head.bytes[1] <= 5;
}

/// PyTorch: an archive with a pickle, or one pickle behind the other, of which the first is a
/// number that all such files have.
bool is_pytorch(const ForeignHead& head) {
  using namespace std::string_view_literals;
  constexpr auto kFirstPickle = "\x80\x02\x8a\x0al\xfc\x9c\x46\xf9\x20\x6a\xa8\x50\x19"sv;
  if (head.bytes.starts_with("PK\x03\x04")) return head.has("/data.pkl");
  return head.bytes.starts_with(kFirstPickle);
}

bool is_fairseq(const ForeignHead& head) {
  return is_pytorch(head) &&
         (head.has("fairseq") || (head.has("optimizer_history") && head.has("extra_state")));
}

bool is_opennmt(const ForeignHead& head) { return is_pytorch(head) && head.has("onmt."); }

/// A message of protocol buffers: the version of its format, then the name of the program that
/// wrote it. Without that name only the file's name tells.
bool is_onnx(const ForeignHead& head) {
  if (head.bytes.size() < 4 || head.bytes[0] != '\x08' || head.bytes[1] < 1 || head.bytes[1] > 32)
    return false;
  if (head.name.ends_with(".onnx")) return true;
  const auto length = static_cast<unsigned char>(head.bytes[3]);
  return head.bytes[2] == '\x12' && length < 64 && head.bytes.size() > 4U + length &&
         is_printable(head.bytes.substr(4, length));
}

bool is_gguf(const ForeignHead& head) { return head.bytes.starts_with("GGUF"); }

/// The formats of GGML before GGUF: numbers whose bytes spell "ggml" and the like backwards.
bool is_ggml(const ForeignHead& head) {
  constexpr std::array<std::string_view, 4> kMagic = {"lmgg", "fmgg", "tjgg", "algg"};
  return std::any_of(kMagic.begin(), kMagic.end(),
                     [&](std::string_view magic) { return head.bytes.starts_with(magic); });
}

bool is_saved_model(const ForeignHead& head) {
  return head.name == "saved_model.pb" || head.name == "saved_model.pbtxt";
}

bool is_tensorflow_checkpoint(const ForeignHead& head) {
  const bool is_part = head.name.find(".data-0") != std::string_view::npos ||
                       head.name.ends_with(".ckpt.index") || head.name.ends_with(".ckpt.meta");
  return is_part || head.bytes.starts_with("model_checkpoint_path: ");
}

bool is_tensorflow_lite(const ForeignHead& head) {
  return head.bytes.size() > 8 && head.bytes.substr(4, 4) == "TFL3";
}

bool is_hdf5(const ForeignHead& head) { return head.bytes.starts_with("\x89HDF\r\n\x1a\n"); }

/// The metadata that Hugging Face's libraries write into .safetensors.
bool is_transformers_weights(const ForeignHead& head) {
  const auto length = head.number<std::uint64_t>(0);
  if (head.bytes.size() < 9 || head.bytes[8] != '{' || length > head.bytes.size()) return false;
  const std::string_view header = head.bytes.substr(8, length);
  return header.find(R"("format":"pt")") != std::string_view::npos ||
         header.find(R"("format": "pt")") != std::string_view::npos;
}

/// A format of another system.
struct ForeignFormat {
  std::string_view name;    ///< with its article
  std::string_view advice;  ///< the way to use such a model; empty: there is none
  bool (*matches)(const ForeignHead& head);
};

/// The first entry that matches counts.
constexpr ForeignFormat kForeignFormats[] = {
    {"a CTranslate2 model",
     "if it is the model.bin of a directory, with vocabularies beside it, give that directory",
     is_ctranslate2},
    {"a fairseq checkpoint (PyTorch)", kStoreParameters, is_fairseq},
    {"a checkpoint of OpenNMT-py (PyTorch)", kStoreParameters, is_opennmt},
    {"a PyTorch checkpoint", kStoreParameters, is_pytorch},
    {"a Python pickle", kStoreParameters, is_pickle},
    {"a GGUF model", "", is_gguf},
    {"a GGML model", "", is_ggml},
    {"a TensorFlow SavedModel", kStoreParameters, is_saved_model},
    {"a TensorFlow checkpoint",
     "for a model of Nematus, its script theano_tf_convert.py writes an .npz, which can be loaded",
     is_tensorflow_checkpoint},
    {"a TensorFlow Lite model", "", is_tensorflow_lite},
    {"an ONNX model", "", is_onnx},
    {"an HDF5 file, as Keras writes", kStoreParameters, is_hdf5},
    {"the weights of a model of Hugging Face's Transformers",
     "give the directory that holds them with their config.json", is_transformers_weights},
};

[[noreturn]] void refuse(const std::string& path, std::string_view name, std::string_view advice) {
  throw Error(fmt::format("{}: this is {}, which cannot be loaded{}{}", path, name,
                          advice.empty() ? "" : "; ", advice));
}

/// The first bytes of a regular file; "" for others and when they cannot be read.
std::string head_of(const std::string& path) {
  const Descriptor file = open_without_waiting(path);
  struct stat status {};
  if (file.get() < 0 || ::fstat(file.get(), &status) != 0 || !S_ISREG(status.st_mode)) return "";
  std::string bytes(kForeignHeadBytes, '\0');
  std::size_t used = 0;
  while (used < bytes.size()) {
    const ssize_t count = ::read(file.get(), bytes.data() + used, bytes.size() - used);
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) break;
    used += static_cast<std::size_t>(count);
  }
  bytes.resize(used);
  return bytes;
}

/// The configuration of a directory as JSON, if it is an object.
std::optional<nlohmann::json> configuration(const fs::path& directory) {
  const std::string path = (directory / "config.json").string();
  std::error_code error;
  if (!fs::is_regular_file(path, error)) return std::nullopt;
  try {
    auto json = load_json(read_file(path, JsonLimits{}.bytes), path);
    if (json.is_object()) return json;
  } catch (const Error&) {
    // Reading it as a model directory's reports it.
  }
  return std::nullopt;
}

}  // namespace

void refuse_foreign_model(std::string_view head, const std::string& path) {
  const std::string name = fs::path(without_compression(path)).filename().string();
  for (const ForeignFormat& format : kForeignFormats)
    if (format.matches({head, name})) refuse(path, format.name, format.advice);
}

bool is_ctranslate2_file(const std::string& path) {
  const std::string head = head_of(path);
  return is_ctranslate2({head, ""});
}

void refuse_foreign_file(const std::string& path) { refuse_foreign_model(head_of(path), path); }

void refuse_foreign_directory(const std::string& path) {
  if (const auto config = configuration(path); config && config->contains("fuselage-model")) return;
  constexpr std::size_t kMaxFiles = 10'000;
  std::vector<std::string> files;
  std::error_code error;
  for (fs::directory_iterator at(path, error), end; !error && at != end && files.size() < kMaxFiles;
       at.increment(error)) {
    const std::string extension = at->path().extension().string();
    if (extension == ".npz" || extension == ".yml" || extension == ".yaml") return;
    // Other files, such as vocabularies, are no models.
    constexpr std::array<std::string_view, 12> kExtensions = {
        ".bin", ".pt",   ".pth", ".ckpt", ".pkl",   ".gguf",
        ".pb",  ".onnx", ".h5",  ".hdf5", ".index", ".safetensors"};
    if (std::find(kExtensions.begin(), kExtensions.end(), extension) != kExtensions.end() ||
        at->path().filename() == "checkpoint")
      files.push_back(at->path().string());
  }
  std::sort(files.begin(), files.end());
  for (const std::string& file : files) refuse_foreign_file(file);
}

}  // namespace fuselage
