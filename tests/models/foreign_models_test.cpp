#include "models/formats/foreign_models.h"

#include <gmock/gmock.h>

#include <filesystem>

#include "base/files/file.h"
#include "fuselage/base/error.h"
#include "fuselage/models/load_model.h"
#include "tests/models/marian_bin_writer.h"
#include "tests/temporary_folder.h"

namespace fuselage::foreign_models_test {
namespace {

using namespace std::string_literals;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::ThrowsMessage;

// The beginnings of files, each as its system writes it.

/// CTranslate2, binary version 6.
const std::string kCTranslate2 =
    "\x06\0\0\0\x10\0TransformerSpec\0\x07\0\0\0\xc8\0\0\0\x1a\0decoder/embeddings/weight\0"s;
/// CTranslate2, binary version 1, which has no name of the kind of model.
const std::string kEarlyCTranslate2 = "\x01\0\0\0\xc8\0\0\0\x1a\0decoder/embeddings/weight\0"s;
/// torch.save(): a ZIP archive whose first member is the pickle.
const std::string kPyTorch = "PK\x03\x04\0\0\x08\x08"s + std::string(18, '\0') +
                             "\x10\0\x12\0archive/data.pkl"s + std::string(18, '\0');
/// torch.save() until version 1.5.
const std::string kLegacyPyTorch =
    "\x80\x02\x8a\x0al\xfc\x9c\x46\xf9\x20\x6a\xa8\x50\x19.\x80\x02M\xe9\x03."s;

struct ForeignCase {
  std::string file, head, message;
};

const ForeignCase kForeignCases[] = {
    {"model.bin", kCTranslate2, "this is a CTranslate2 model"},
    {"model.bin", kEarlyCTranslate2, "with vocabularies beside it, give that directory"},
    {"model.npz", kCTranslate2, "this is a CTranslate2 model"},
    {"model.pt", kPyTorch + "\x80\x02}q\0(X\x05\0\0\0model"s, "this is a PyTorch checkpoint"},
    {"pytorch_model.bin", kPyTorch, "store its parameters as .safetensors"},
    {"model.pt", kLegacyPyTorch, "this is a PyTorch checkpoint"},
    {"model.pt", kLegacyPyTorch + "cfairseq.tasks", "this is a fairseq checkpoint"},
    {"model.pt", kPyTorch + "extra_state X optimizer_history", "this is a fairseq checkpoint"},
    {"model.pt", kPyTorch + "conmt.inputters\n", "OpenNMT-py"},
    {"model.pkl", "\x80\x04\x95\0\0\0\0"s, "this is a Python pickle"},
    {"model.onnx", "\x08\x07\x12\x07pytorch\x1a\x05"s, "this is an ONNX model"},
    {"model.bin", "\x08\x07\x12\x07pytorch\x1a\x05"s, "this is an ONNX model"},
    {"model.onnx", "\x08\x08:\x90\x03"s, "this is an ONNX model"},
    {"model.gguf", "GGUF\x03\0\0\0"s, "this is a GGUF model"},
    {"model.bin", "tjgg\x03\0\0\0"s, "this is a GGML model"},
    {"saved_model.pb", "\x08\x01\x12\xbc\x80\x05"s, "this is a TensorFlow SavedModel"},
    {"model.ckpt-1.data-00000-of-00001", "0000", "theano_tf_convert.py writes an .npz"},
    {"checkpoint", "model_checkpoint_path: \"model-1\"\n", "this is a TensorFlow checkpoint"},
    {"model.tflite", "\x1c\0\0\0TFL3\x14\0"s, "this is a TensorFlow Lite model"},
    {"model.h5", "\x89HDF\r\n\x1a\n\0\0"s, "this is an HDF5 file"},
    {"model.safetensors", "\x28\0\0\0\0\0\0\0{\"__metadata__\":{\"format\":\"pt\"}}         {}"s,
     "this is the weights of a model of Hugging Face's Transformers"},
};

TEST(ForeignModels, AreNamedForWhatTheyAre) {
  const support::TemporaryFolder folder;
  for (const ForeignCase& c : kForeignCases) {
    const std::string path = folder / c.file;
    write_file_atomically(path, c.head);
    EXPECT_THAT([&] { load_model(path); },
                ThrowsMessage<Error>(
                    AllOf(HasSubstr(path), HasSubstr(c.message), HasSubstr("cannot be loaded"))))
        << c.file;
    std::filesystem::remove(path);
  }
}

TEST(ForeignModels, MayBeCompressed) {
  EXPECT_THAT([] { refuse_foreign_model("GGUF", "model.bin.gz"); },
              ThrowsMessage<Error>(HasSubstr("model.bin.gz: this is a GGUF model")));
}

TEST(ForeignModels, AreNoneOfOurs) {
  using support::marian_bin;
  for (const std::string& head :
       {marian_bin({support::config_item("type: s2s\n")}), marian_bin({}), ""s, "P"s, "PK\x03\x04"s,
        std::string(100, '\0'), "\x80"s, "\x08\x01"s, "\x01\0\0\0\xc8\0\0\0\xff\xff"s})
    for (const char* name : {"model.bin", "model.npz", "model.ir", "model.yml"})
      EXPECT_NO_THROW(refuse_foreign_model(head, name)) << name;
}

TEST(ForeignModels, MayBeDirectories) {
  const auto refused = [](const std::vector<std::pair<std::string, std::string>>& files,
                          const std::string& message) {
    const support::TemporaryFolder folder;
    const std::string directory = folder / "model";
    std::filesystem::create_directory(directory);
    for (const auto& [name, content] : files)
      write_file_atomically(directory + "/" + name, content);
    EXPECT_THAT([&] { load_model(directory); },
                ThrowsMessage<Error>(AllOf(HasSubstr(directory), HasSubstr(message))));
  };
  refused(
      {{"config.json", R"({"architectures": ["LlamaForCausalLM"], "model_type": "llama"})"}},
      "'LlamaForCausalLM' (the family 'llama') of Hugging Face's Transformers cannot be loaded");
  refused({{"config.json", R"({"model_type": "t5"})"}}, "there is neither model.safetensors nor");
  refused({{"model.bin", kEarlyCTranslate2}, {"shared_vocabulary.txt", "a"}},
          "model.bin: version 1 of CTranslate2's binary format is not supported");
  refused({{"checkpoint_best.pt", kPyTorch + "fairseq"}, {"dict.en.txt", "a 1"}},
          "checkpoint_best.pt: this is a fairseq checkpoint");
  refused({{"saved_model.pb", "x"}}, "saved_model.pb: this is a TensorFlow SavedModel");
  refused({{"README.md", "x"}}, "this directory holds no model");
  refused({{"config.json", R"({"name": "x"})"}}, "'fuselage-model', the version of the format");
}

}  // namespace
}  // namespace fuselage::foreign_models_test
