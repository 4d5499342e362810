#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "fuselage/base/error.h"
#include "fuselage/models/architectures/architecture.h"
#include "fuzz/check_message.h"
#include "models/ctranslate2/configuration.h"
#include "models/ctranslate2/model_bin.h"
#include "models/ctranslate2/transformer_options.h"
#include "models/ctranslate2/weights.h"

// A model.bin, from its bytes to a graph.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace fuselage;
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  const std::string name = "fuzz.bin";
  try {
    const Ctranslate2File file = read_ctranslate2_file(bytes, name);
    const Ctranslate2Configuration configuration =
        read_ctranslate2_configuration(file, "{}", "config.json");
    const ModelOptions options(ctranslate2_options(file, configuration, name), name);
    Ctranslate2Weights weights = ctranslate2_weights(file, name);
    weights.tensors.insert_or_assign("decoder/start_embedding",
                                     Tensor(DType::f32, {options.integer("dim-emb", 0)}));
    build_model("ctranslate2-transformer", options, weights.tensors);
  } catch (const Error& error) {
    check_message(error);
  }
  return 0;
}
