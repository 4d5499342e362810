#include "passes/quantize.h"

#include <fmt/format.h>

#include <string>
#include <vector>

#include "models/quantize_model.h"
#include "tools/commands.h"
#include "tools/model_options.h"
#include "tools/write_model.h"

namespace fuselage {
namespace {

std::string report(const QuantizedWeights& weights, const std::string& precision) {
  const auto megabytes = [](std::size_t bytes) { return static_cast<double>(bytes) / 1e6; };
  return fmt::format(
      "{} matrices are stored for {}: {:.1f} MB of weights became {:.1f} MB; no number moved by "
      "more than {:.2g} of the largest of its matrix",
      weights.matrices, precision, megabytes(weights.bytes_before), megabytes(weights.bytes_after),
      weights.largest_error);
}

}  // namespace

int run_quantize(const std::vector<std::string>& arguments) {
  ModelChoice choice;
  std::vector<std::string> vocabularies;
  std::string output, precision = "int8";
  bool quiet = false;
  Options options("quantize", "Write a model as a model directory with its matrices in integers.");
  CLI::App& app = options.app();
  choice.add_to(app, "MODEL,-m,--models,--model");
  app.add_option("-v,--vocabs", vocabularies, "Source and target vocabulary, as for translate");
  app.add_option("-o,--output", output, "Directory to write")->required();
  app.add_option("--precision", precision,
                 "What the integers are for: products in int8 or int16; the default when the model "
                 "is run")
      ->check(CLI::IsMember({"int8", "int16"}))
      ->capture_default_str();
  app.add_flag("--quiet", quiet, "No report");
  if (!options.parse(arguments)) return 0;
  NamedModel loaded = load_named_models(choice, !vocabularies.empty(), decided_by(options));
  const Quantizer quantizer = weight_quantizer(precision_from_string(precision));
  write_model(std::move(loaded), vocabularies, output,
              {.decode_options = {{"precision", precision}}},
              [&](Model& model, VocabularyPair& checked) {
                const QuantizedWeights weights = quantize_weights(model, quantizer);
                if (!quiet) checked.notes.push_back(report(weights, precision));
              });
  return 0;
}

}  // namespace fuselage
