#include "passes/quantize.h"

#include <fmt/format.h>

#include <array>
#include <string>
#include <vector>

#include "base/error.h"
#include "models/quantize_model.h"
#include "tools/commands.h"
#include "tools/files.h"
#include "tools/model_options.h"
#include "tools/quantize_report.h"
#include "tools/write_model.h"

namespace fuselage {
namespace {

constexpr std::array<const char*, 3> kFits = {"largest", "fixed", "fitted"};

/// How matrices are to be stored.
struct StorageOptions {
  std::string precision = "int8";
  std::string fit = "fitted";
  std::string scales = "column";
  float fixed_scale = 1;  ///< the largest level
  int bits = 4;

  void add_to(CLI::App& app);
  /// Throws Error for what the precision does not have.
  void verify(Options& options) const;

  bool logarithmic() const { return precision == "int4" || precision == "int4-log"; }
  MatrixStorage storage(std::string_view with_fit) const;
};

void StorageOptions::add_to(CLI::App& app) {
  app.add_option("--precision", precision,
                 "What matrices are stored for: products in bf16, int16, int8, int4 or int4-log; "
                 "the default when the model is run")
      ->check(CLI::IsMember({"bf16", "int16", "int8", "int4", "int4-log"}))
      ->capture_default_str();
  app.add_option("--bits", bits, "With int4: bits of a number, one of them its sign")
      ->check(CLI::Range(1, 4))
      ->capture_default_str();
  app.add_option("--fit", fit,
                 "With int4, the largest level: the largest magnitude, the same for all, or fitted "
                 "to the least squared error")
      ->check(CLI::IsMember(std::vector<std::string>(kFits.begin(), kFits.end())))
      ->capture_default_str();
  app.add_option("--fixed-scale", fixed_scale, "With --fit fixed: that level")
      ->check(CLI::PositiveNumber)
      ->capture_default_str();
  app.add_option("--scales", scales, "With int4: a scale for each column or for a whole matrix")
      ->check(CLI::IsMember({"column", "tensor"}))
      ->capture_default_str();
}

void StorageOptions::verify(Options& options) const {
  for (const char* option : {"--bits", "--fit", "--scales", "--fixed-scale"})
    if (!logarithmic() && options.given(option))
      throw Error("{} is about 4-bit numbers, not {}; give --precision int4", option, precision);
  if (options.given("--fixed-scale") && fit != "fixed")
    throw Error("--fixed-scale is for --fit fixed, not {}", fit);
  if (options.given("--scales") && fit == "fixed")
    throw Error("--scales says which scales are found, but --fit fixed gives them");
  storage(fit).quantizer.value_or(Quantizer{}).verify();
}

MatrixStorage StorageOptions::storage(std::string_view with_fit) const {
  if (precision == "bf16") return {};
  Quantizer quantizer = weight_quantizer(precision_from_string(precision));
  if (!logarithmic()) return {.quantizer = quantizer};
  quantizer.bits = bits;
  if (with_fit == "fixed") quantizer.scale = fixed_scale / static_cast<float>(quantizer.largest);
  if (with_fit == "largest") quantizer.fit = ScaleFit::largest;
  return {.quantizer = quantizer, .one_scale = scales == "tensor"};
}

std::vector<std::string> read_lines(const std::string& path) {
  InputFile input(path);
  std::vector<std::string> lines;
  for (std::string line; std::getline(input.stream(), line);) lines.push_back(line);
  return lines;
}

}  // namespace

int run_quantize(const std::vector<std::string>& arguments) {
  ModelChoice choice;
  StorageOptions storage;
  std::vector<std::string> vocabularies;
  std::string output, text;
  bool quiet = false;
  Options options("quantize",
                  "Write a model as a model directory with its matrices in fewer bits.");
  CLI::App& app = options.app();
  choice.add_to(app, "MODEL,-m,--models,--model");
  app.add_option("-v,--vocabs", vocabularies, "Source and target vocabulary, as for translate");
  app.add_option("-o,--output", output, "Directory to write")->required();
  storage.add_to(app);
  app.add_option("--report", text,
                 "A text to translate before, slowly: report also the range of what each product "
                 "multiplies");
  app.add_flag("--quiet", quiet, "No report")->excludes("--report");
  if (!options.parse(arguments)) return 0;
  storage.verify(options);
  const std::vector<std::string> fits(kFits.begin(),
                                      storage.logarithmic() ? kFits.end() : kFits.begin());
  std::vector<MatrixStorage> alternatives;
  for (const std::string& fit : fits)
    if (!quiet) alternatives.push_back(storage.storage(fit));

  const std::vector<std::string> lines =
      text.empty() ? std::vector<std::string>{} : read_lines(text);
  NamedModel loaded = load_named_models(choice, !vocabularies.empty(), decided_by(options));
  StoredWeights stored;
  std::vector<ProductRange> ranges;
  write_model(std::move(loaded), vocabularies, output,
              {.decode_options = {{"precision", storage.precision}}},
              [&](Model& model, VocabularyPair& checked) {
                const auto& paths = vocabularies.empty() ? model.vocabularies : vocabularies;
                if (!text.empty()) ranges = measure_products(model, {.paths = paths}, lines);
                stored = store_matrices(model, storage.storage(storage.fit), alternatives);
                if (!quiet) checked.notes.push_back(summarize(stored, storage.precision));
              });
  if (quiet) return 0;
  OutputFile report("stdout");
  report.write(print_matrices(stored, storage.precision, fits));
  if (!text.empty()) report.write(print_ranges(ranges));
  report.close();
  return 0;
}

}  // namespace fuselage
