#include <memory>
#include <string>
#include <vector>

#include "decoding/line_encoder.h"
#include "fuselage/base/error.h"
#include "fuselage/decoding/output_format.h"
#include "fuselage/decoding/scorer.h"
#include "tools/commands/commands.h"
#include "tools/commands/progress.h"
#include "tools/options/files.h"
#include "tools/options/input_files.h"
#include "tools/options/model_command_options.h"

namespace fuselage {
namespace {

class ScoreCommand : public Command {
 public:
  ScoreCommand();
  int run() override;

 private:
  void finish();

  ModelCommandOptions common_;
  ScorerOptions scorer_;
  OutputFormat format_;
  std::vector<std::string> texts_;
  std::string alignment_;
};

ScoreCommand::ScoreCommand()
    : Command("score",
              "Tell how likely given translations are: the log-probability of each line of TARGET "
              "as a translation of that line of SOURCE. It is normalized by the length when "
              "--normalize, a configuration file or the model's defaults say so.",
              {{"fuselage score -t source.txt target.txt", "One score a line."}}) {
  common_.add_model_to(options());
  options().begin_group(kTextGroup);
  CLI::App& app = options().app();
  app.add_option("-t,--train-sets", texts_, "Source and target text, line by line")
      ->expected(2)
      ->type_name("FILE");
  add_score_formats(app, format_, alignment_);
  options().begin_group(kSearchGroup);
  common_.add_scoring_to(app);
  common_.add_running_to(options());
  // Accepts configurations for translating.
  options().pass_over({"allow-special", "allow-unk", "beam-size", "input", "max-length-factor",
                       "n-best", "skip-cost"});
}

void ScoreCommand::finish() {
  common_.apply_to(scorer_);
  scorer_.alignment = format_.alignment.has_value();
}

int ScoreCommand::run() {
  common_.finish(options());
  if (options().given("--alignment")) format_.alignment = parse_alignment_format(alignment_);
  if (texts_.size() != 2) throw Error("give the two texts with -t SOURCE TARGET");

  if (is_standard_input(texts_[0]) && is_standard_input(texts_[1]))
    throw Error("standard input cannot be both texts; give one of them as a file");
  InputFiles source({texts_[0]});
  InputFiles target({texts_[1]});
  Model model = common_.load(options());
  finish();
  const Scorer scorer(std::move(model), scorer_);
  if (!common_.quiet)
    for (const std::string& note : scorer.notes()) print_note(note);

  std::vector<std::string> inputs = common_.files_read;
  inputs.insert(inputs.end(), texts_.begin(), texts_.end());
  OutputFile output(common_.output, inputs);
  const std::size_t max_length = *scorer.options().max_length;
  LineNotes source_notes(max_length, texts_[0]);
  LineNotes target_notes(max_length, texts_[1]);
  Progress progress(source.size_bytes(), common_.quiet || output.is_terminal());
  scorer.score(source.stream(), target.stream(), [&](std::size_t line, PairScore&& score) {
    output.write(format_score(line, score, format_));
    source_notes.add(line, score.source_oddities);
    target_notes.add(line, score.target_oddities);
    progress.add(score.source_words, score.source_bytes);
  });
  output.close();
  progress.finish();
  if (common_.quiet) return 0;
  for (const LineNotes* notes : {&source_notes, &target_notes})
    for (const std::string& note : notes->notes()) print_note(note);
  print_use(common_, scorer);
  return 0;
}

}  // namespace

std::unique_ptr<Command> make_score_command() { return std::make_unique<ScoreCommand>(); }

}  // namespace fuselage
