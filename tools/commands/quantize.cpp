#include "fuselage/passes/precision/quantize.h"

#include <fmt/format.h>

#include <array>
#include <memory>
#include <string>
#include <vector>

#include "decoding/line_reader.h"
#include "fuselage/base/error.h"
#include "models/quantized/quantize_model.h"
#include "tools/commands/commands.h"
#include "tools/commands/quantize_report.h"
#include "tools/commands/write_model.h"
#include "tools/options/files.h"
#include "tools/options/input_files.h"
#include "tools/options/model_command_options.h"
#include "tools/options/validators.h"

namespace fuselage {
namespace {

constexpr std::array<const char*, 3> kFits = {"largest", "fixed", "fitted"};

/// Precisions whose matrices have fewer bits than f32.
std::vector<std::string> stored_precisions() {
  std::vector<std::string> names;
  for (const Precision precision :
       {Precision::bf16, Precision::int16, Precision::int8, Precision::int4, Precision::int4_log})
    names.emplace_back(to_string(precision));
  return names;
}

/// Options of the storage of matrices.
struct StorageOptions {
  Precision precision = Precision::int8;
  std::string fit = "fitted";
  std::string scales = "column";
  float fixed_scale = 1;  ///< the maximum level
  int bits = 4;

  void add_to(CLI::App& app);
  /// Throws Error for options that do not apply to the precision.
  void verify(Options& options) const;

  bool logarithmic() const {
    return precision == Precision::int4 || precision == Precision::int4_log;
  }
  MatrixStorage storage(std::string_view with_fit) const;
};

void StorageOptions::add_to(CLI::App& app) {
  const auto set = [this](const std::string& name) { precision = precision_from_string(name); };
  app.add_option_function<std::string>(
         "--precision", set,
         "What matrices are stored for: products in bf16, int16, int8, int4 or int4-log; "
         "the default when the model is run")
      ->type_name("FORMAT")
      ->check(one_of(stored_precisions()))
      ->default_str(std::string(to_string(precision)));
  app.add_option("--bits", bits, "With int4: bits of a number, one of them its sign")
      ->check(number_in({1, 4}))
      ->capture_default_str();
  app.add_option("--fit", fit,
                 "With int4, the largest level: the largest magnitude, the same for all, or fitted "
                 "to the least squared error")
      ->type_name("WAY")
      ->check(one_of({kFits.begin(), kFits.end()}))
      ->capture_default_str();
  app.add_option("--fixed-scale", fixed_scale, "With --fit fixed: that level")
      ->check(number_in({0, 1e30, false, true}))
      ->capture_default_str();
  app.add_option("--scales", scales, "With int4: a scale for each column or for a whole matrix")
      ->type_name("WHICH")
      ->check(one_of({"column", "tensor"}))
      ->capture_default_str();
}

void StorageOptions::verify(Options& options) const {
  for (const char* option : {"--bits", "--fit", "--scales", "--fixed-scale"})
    if (!logarithmic() && options.given(option))
      throw Error(fmt::format("{} is about 4-bit numbers, not {}; give --precision int4", option,
                              to_string(precision)));
  if (options.given("--fixed-scale") && fit != "fixed")
    throw Error(fmt::format("--fixed-scale is for --fit fixed, not {}", fit));
  if (options.given("--scales") && fit == "fixed")
    throw Error("--scales says which scales are found, but --fit fixed gives them");
  storage(fit).quantizer.value_or(Quantizer{}).verify();
}

MatrixStorage StorageOptions::storage(std::string_view with_fit) const {
  if (precision == Precision::bf16) return {};
  Quantizer quantizer = weight_quantizer(precision);
  if (!logarithmic()) return {.quantizer = quantizer};
  quantizer.bits = bits;
  if (with_fit == "fixed") quantizer.scale = fixed_scale / static_cast<float>(quantizer.largest);
  if (with_fit == "largest") quantizer.fit = ScaleFit::largest;
  return {.quantizer = quantizer, .one_scale = scales == "tensor"};
}

std::vector<std::string> read_lines(const std::string& path) {
  InputFiles input({path});
  std::vector<std::string> lines;
  for (std::string line; read_line(input.stream(), line);) lines.push_back(line);
  return lines;
}

class QuantizeCommand : public Command {
 public:
  QuantizeCommand();
  int run() override;

 private:
  ModelChoice choice_;
  StorageOptions storage_;
  ProbeOptions probes_;
  std::vector<std::string> vocabularies_;
  std::string output_, text_;
  bool quiet_ = false;
};

QuantizeCommand::QuantizeCommand()
    : Command("quantize", "Write a model as a model directory with its matrices in fewer bits.",
              {{"fuselage quantize model.npz -v vocab.spm vocab.spm -o my-int8-model",
                "Matrices in 8 bits, which products of integers read as they are."}}) {
  CLI::App& app = options().app();
  options().begin_group(kModelGroup);
  choice_.add_to(app, "MODEL,-m,--models,--model");
  app.add_option("-v,--vocabs", vocabularies_, "Source and target vocabulary, as for translate")
      ->expected(2)
      ->type_name("FILE");
  options().begin_group("Output");
  app.add_option("-o,--output", output_, "Directory to write")->required()->type_name("DIR");
  storage_.add_to(app);
  CLI::Option* texts = probes_.add_texts_to(app, "the model's own, or random words");
  app.add_flag("--no-probes", probes_.none, "Store no probe sentences")->excludes(texts);
  options().begin_group(kReportGroup);
  app.add_option("--report", text_,
                 "A text to translate before, slowly: report also the range of what each product "
                 "multiplies")
      ->type_name("FILE");
  app.add_flag("--quiet", quiet_, "No report")->excludes("--report");
}

int QuantizeCommand::run() {
  storage_.verify(options());
  const std::string precision(to_string(storage_.precision));
  expect_replaceable(output_);
  const std::vector<std::string> fits(kFits.begin(),
                                      storage_.logarithmic() ? kFits.end() : kFits.begin());
  std::vector<MatrixStorage> alternatives;
  for (const std::string& fit : fits)
    if (!quiet_) alternatives.push_back(storage_.storage(fit));

  const std::vector<std::string> lines =
      text_.empty() ? std::vector<std::string>{} : read_lines(text_);
  NamedModel loaded = load_named_models(choice_, !vocabularies_.empty(), decided_by(options()));
  StoredWeights stored;
  std::vector<ProductRange> ranges;
  write_model(std::move(loaded), vocabularies_, output_, {.precision = storage_.precision}, {},
              probes_, [&](Model& model, VocabularyPair& checked) {
                const auto& paths = vocabularies_.empty() ? model.vocabularies : vocabularies_;
                if (!text_.empty()) ranges = measure_products(model, {.paths = paths}, lines);
                model.probes.rounded = true;
                stored = store_matrices(model, storage_.storage(storage_.fit), alternatives);
                if (!quiet_) checked.notes.push_back(summarize(stored, precision));
              });
  if (quiet_) return 0;
  OutputFile report("stdout");
  report.write(print_matrices(stored, precision, fits));
  if (!text_.empty()) report.write(print_ranges(ranges));
  report.close();
  return 0;
}

}  // namespace

std::unique_ptr<Command> make_quantize_command() { return std::make_unique<QuantizeCommand>(); }

}  // namespace fuselage
