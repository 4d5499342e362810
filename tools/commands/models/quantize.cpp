#include <fmt/format.h>

#include <memory>
#include <string>
#include <vector>

#include "decoding/lines/line_reader.h"
#include "models/quantized/quantize_model.h"
#include "tools/commands/commands.h"
#include "tools/commands/models/quantize_report.h"
#include "tools/commands/models/storage_options.h"
#include "tools/commands/models/write_model.h"
#include "tools/options/files.h"
#include "tools/options/input_files.h"
#include "tools/options/model_command_options.h"

namespace fuselage {
namespace {

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
                "Matrices in 8 bits, which products of integers read as they are."},
               {"fuselage quantize model.npz -v vocab.spm vocab.spm -o my-small-model "
                "--precision int3 --precision-of 'Wemb*=int8'",
                "Matrices in 3 bits, and embeddings in 8."}}) {
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
  expect_replaceable(output_);
  const std::vector<std::string> lines =
      text_.empty() ? std::vector<std::string>{} : read_lines(text_);
  NamedModel loaded = load_named_models(choice_, !vocabularies_.empty(), decided_by(options()));
  storage_.expect_used(loaded.model);
  StoredWeights stored;
  std::vector<ProductRange> ranges;
  write_model(std::move(loaded), vocabularies_, output_, {.precision = storage_.run_precision()},
              {}, probes_, [&](Model& model, VocabularyPair& checked) {
                const auto& paths = vocabularies_.empty() ? model.vocabularies : vocabularies_;
                if (!text_.empty()) ranges = measure_products(model, {.paths = paths}, lines);
                model.probes.rounded = true;
                stored = store_matrices(model, [&](const std::string& name) {
                  return storage_.storage_of(name, !quiet_);
                });
                if (!quiet_) checked.notes.push_back(summarize(stored, storage_.precisions()));
              });
  if (quiet_) return 0;
  OutputFile report("stdout");
  report.write(print_matrices(
      stored, [&](const std::string& name) { return storage_.precision_of(name).name; },
      storage_.fits()));
  if (!text_.empty()) report.write(print_ranges(ranges));
  report.close();
  return 0;
}

}  // namespace

std::unique_ptr<Command> make_quantize_command() { return std::make_unique<QuantizeCommand>(); }

}  // namespace fuselage
