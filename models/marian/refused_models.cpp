#include "models/marian/refused_models.h"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>
#include <vector>

#include "base/numbers/truth.h"
#include "base/suggest.h"
#include "fuselage/base/error.h"
#include "fuselage/models/architectures/architecture.h"
#include "models/architectures/encoder_decoder.h"

namespace fuselage {
namespace {

bool is_off(const std::string& text) {
  return text.empty() || text == "0" || parse_truth(text) == false;
}

/// A registered architecture of such a name is not refused.
void refuse_type(const ModelOptions& options) {
  const std::string type = options.text("type", "amun");
  const std::string_view reason = why_not_supported(type);
  if (reason.empty()) return;
  const std::vector<std::string> known = architecture_names();
  if (std::find(known.begin(), known.end(), type) != known.end()) return;
  throw Error(fmt::format("{}: a model of type {} is not supported: {}", options.where(),
                          in_quotes(type), reason));
}

}  // namespace

void refuse_unsupported_model(const ModelOptions& options, const TensorMap& tensors) {
  refuse_type(options);
  for (const auto& [name, tensor] : tensors)
    if (name.find("->") != std::string::npos)
      throw Error(fmt::format(
          "{}: parameter {} is one of Marian's later layer framework (transformer-new), which is "
          "not supported",
          options.where(), in_quotes(name)));
  if (options.ignore_unknown()) return;
  for (const char* key : {"lemma-dim-emb", "lemma-dependency", "factors-dim-emb"})
    if (options.has(key))
      if (const std::string value = options.text(key); !is_off(value))
        throw Error(
            fmt::format("{}: {} is {}: the model has a factored vocabulary, which is not supported",
                        options.where(), key, in_quotes(value)));
  if (options.has("ulr") && !is_off(options.text("ulr")))
    throw Error(
        fmt::format("{}: ulr is {}: universal embeddings of several languages are not supported",
                    options.where(), in_quotes(options.text("ulr"))));
}

}  // namespace fuselage
