#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "tools/commands/commands.h"
#include "tools/commands/models/model_info.h"
#include "tools/options/files.h"
#include "tools/options/named_models.h"
#include "tools/options/validators.h"

namespace fuselage {
namespace {

class InfoCommand : public Command {
 public:
  InfoCommand();
  int run() override;

 private:
  ModelChoice choice_;
  std::vector<std::string> vocabularies_;
  std::string format_ = "text";
  std::string output_ = "stdout";
};

InfoCommand::InfoCommand()
    : Command("info",
              "Tell what a model is: what it was recognized as, its architecture and sizes, the "
              "precisions of its weights, its vocabularies and its defaults for decoding.",
              {{"fuselage info model.npz", "A Marian model; a directory is told as well."},
               {"fuselage info model.npz --format json", "The same for a program."}}) {
  CLI::App& app = options().app();
  options().begin_group("Model");
  choice_.add_to(app, "MODEL,-m,--models,--model");
  app.add_option("-v,--vocabs", vocabularies_, "Vocabularies in the place of the model's own")
      ->expected(1, 2)
      ->type_name("FILE");
  options().begin_group("Output");
  app.add_option("--format", format_, "Text, or a JSON object")
      ->type_name("FORMAT")
      ->check(one_of({"text", "json"}))
      ->capture_default_str();
  app.add_option("-o,--output", output_, "Where to write")
      ->type_name("FILE")
      ->capture_default_str();
}

int InfoCommand::run() {
  // Members of an ensemble may state different defaults; nothing is decoded with them.
  NamedModel loaded =
      load_named_models(choice_, !vocabularies_.empty(), [](const std::string&) { return true; });
  if (!vocabularies_.empty()) loaded.model.vocabularies = vocabularies_;
  const ModelInfo info = model_info(loaded.model, loaded.path);
  OutputFile output(output_, loaded.files);
  output.write(format_ == "json" ? print_info_json(info) : print_info(info));
  output.close();
  return 0;
}

}  // namespace

std::unique_ptr<Command> make_info_command() { return std::make_unique<InfoCommand>(); }

}  // namespace fuselage
