#include <chrono>
#include <memory>
#include <string>
#include <vector>

#include "decoding/lines/line_encoder.h"
#include "fuselage/base/error.h"
#include "fuselage/decoding/generator.h"
#include "fuselage/decoding/output_format.h"
#include "tools/commands/commands.h"
#include "tools/commands/translation/progress.h"
#include "tools/options/files.h"
#include "tools/options/input_files.h"
#include "tools/options/model_command_options.h"
#include "tools/options/number_options.h"
#include "tools/options/repetition_options.h"
#include "tools/options/sampling_options.h"
#include "tools/options/validators.h"

namespace fuselage {
namespace {

class GenerateCommand : public Command {
 public:
  GenerateCommand();
  int run() override;

 private:
  void add_search_options();

  ModelCommandOptions common_;
  GeneratorOptions generator_;
  OutputFormat format_;
  std::vector<std::string> inputs_ = {"stdin"};
};

GenerateCommand::GenerateCommand()
    : Command("generate",
              "Continue texts with a language model, which is a model without a source text: one "
              "line of output per prompt, a prompt per line of input. An empty line begins a text.",
              {{"echo 'Once upon a time' | fuselage generate -m language-model",
                "The most probable word at each step."},
               {"fuselage generate -m language-model -b 4 --n-best --json -i in.txt",
                "All hypotheses of a beam search, a JSON object per prompt."}}) {
  common_.add_model_to(options(), ModelCommandOptions::Texts::one);
  options().begin_group(kTextGroup);
  CLI::App& app = options().app();
  app.add_option("FILE,-i,--input", inputs_,
                 "Prompts, one a line; several files are read one after another, and their lines "
                 "numbered on; - is standard input. What ends in .gz or .zst is expanded")
      ->type_name("FILE")
      ->default_str("stdin");
  app.add_flag("--include-prompt", generator_.include_prompt,
               "Print the prompt before its continuation");
  app.add_flag("--n-best", format_.n_best, "Print all hypotheses, with scores");
  add_score_formats(app, format_);
  options().begin_group(kSearchGroup);
  add_search_options();
  common_.add_running_to(options());
  // Accepts configurations for translating.
  options().pass_over({"added-field",
                       "alignment",
                       "checkpoint-seconds",
                       "constraints",
                       "coverage-penalty",
                       "force-decode",
                       "html",
                       "jsonl",
                       "keep-bad-rows",
                       "max-length-factor",
                       "output-folder",
                       "price-per-hour",
                       "progress-seconds",
                       "replace-unknowns",
                       "resume",
                       "shard",
                       "shortlist",
                       "skip-cost",
                       "terminology",
                       "text",
                       "text-language",
                       "through",
                       "tsv"});
}

void GenerateCommand::add_search_options() {
  CLI::App& app = options().app();
  add_number(app, "-b,--beam-size", generator_.beam_size, "Hypotheses that are followed at a time",
             range_of("beam-size"))
      ->default_str("the model's, or 1");
  common_.add_scoring_to(app);
  add_number(app, "--max-new-tokens", generator_.max_new_tokens,
             "Most tokens after the prompt, the end symbol counted", {1, kMaxNewTokens});
  add_repetition_options(app, generator_);
  app.add_flag_function(
      "--allow-unk", [this](std::int64_t count) { generator_.allow_unk = count > 0; },
      "The unknown word may be produced");
  app.add_flag("--allow-special", generator_.allow_special,
               "Control characters of SentencePiece may be produced");
  add_sampling_option(app, generator_.sampling);
  add_seed_option(app, generator_.seed);
}

int GenerateCommand::run() {
  common_.finish(options());
  if (common_.models.paths.empty())
    throw Error("give a language model with --model; the bundled model translates");

  InputFiles input(inputs_);
  Model model = common_.load(options());
  common_.apply_to(generator_);
  const Generator generator(std::move(model), generator_);
  if (!common_.quiet)
    for (const std::string& note : generator.notes()) print_note(note);

  std::vector<std::string> inputs = common_.files_read;
  inputs.insert(inputs.end(), inputs_.begin(), inputs_.end());
  OutputFile output(common_.output, inputs);
  LineNotes notes(*generator.options().max_length);
  Progress progress(input.size_bytes(), common_.quiet || output.is_terminal());
  const auto print = [&](std::size_t line, Generation&& generation) {
    output.write(format_generation(line, generation, format_));
    notes.add(line, generation.oddities);
    progress.add(generation.prompt_words, generation.prompt_bytes);
  };
  generator.generate(input.stream(), print,
                     [&](std::chrono::milliseconds timeout) { return input.ready(timeout); });
  output.close();
  progress.finish();
  if (!common_.quiet)
    for (const std::string& note : notes.notes()) print_note(note);
  print_use(common_, generator);
  return 0;
}

}  // namespace

std::unique_ptr<Command> make_generate_command() { return std::make_unique<GenerateCommand>(); }

}  // namespace fuselage
