#include <string>
#include <vector>

#include "base/error.h"
#include "decoding/output_format.h"
#include "decoding/scorer.h"
#include "tools/commands.h"
#include "tools/files.h"
#include "tools/model_options.h"
#include "tools/progress.h"

namespace fuselage {
namespace {

struct ScoreOptions {
  ModelOptions common;
  ScorerOptions scorer;
  OutputFormat format;
  std::vector<std::string> texts;
  std::string alignment;

  void add_to(Options& options);
  void finish();
};

void ScoreOptions::add_to(Options& options) {
  common.add_model_to(options);
  CLI::App& app = options.app();
  app.add_option("-t,--train-sets", texts, "Source and target text, line by line")->expected(2);
  common.add_scoring_to(app, scorer.word_penalty);
  app.add_flag("--word-scores", format.word_scores, "Print the score of each word");
  app.add_option("--alignment", alignment,
                 "Print the alignment: hard (without a value), soft, or pairs above a weight")
      ->expected(0, 1);
  common.add_running_to(options);
}

void ScoreOptions::finish() {
  common.apply_to(scorer);
  scorer.normalize = common.length_exponent();
  scorer.alignment = format.alignment.has_value();
}

}  // namespace

int run_score(const std::vector<std::string>& arguments) {
  ScoreOptions o;
  Options options("score",
                  "Tell how likely given translations are: the log-probability of each "
                  "line of TARGET as a translation of that line of SOURCE. It is normalized by the "
                  "length when --normalize, a configuration file or the model's defaults say so.");
  o.add_to(options);
  // So that a configuration for translating serves for scoring.
  options.pass_over({"allow-special", "allow-unk", "beam-size", "input", "max-length-factor",
                     "n-best", "skip-cost"});
  if (!options.parse(arguments)) return 0;
  o.common.finish(options);
  if (options.given("--alignment")) o.format.alignment = parse_alignment_format(o.alignment);
  if (o.texts.size() != 2) throw Error("give the two texts with -t SOURCE TARGET");

  InputFile source(o.texts[0]);
  InputFile target(o.texts[1]);
  Model model = o.common.load(options);
  o.finish();
  const Scorer scorer(std::move(model), o.scorer);
  if (!o.common.quiet)
    for (const std::string& note : scorer.notes()) print_note(note);

  std::vector<std::string> inputs = o.common.files_read;
  inputs.insert(inputs.end(), o.texts.begin(), o.texts.end());
  OutputFile output(o.common.output, inputs);
  LineNotes source_notes(o.common.max_length, o.texts[0]);
  LineNotes target_notes(o.common.max_length, o.texts[1]);
  Progress progress(source.size_bytes(), o.common.quiet || output.is_terminal());
  scorer.score(source.stream(), target.stream(), [&](std::size_t line, PairScore&& score) {
    output.write(format_score(score, o.format));
    source_notes.add(line, score.source_oddities);
    target_notes.add(line, score.target_oddities);
    progress.add(score.source_words, score.source_bytes);
  });
  output.close();
  progress.finish();
  if (o.common.quiet) return 0;
  for (const LineNotes* notes : {&source_notes, &target_notes})
    for (const std::string& note : notes->notes()) print_note(note);
  print_use(o.common, scorer);
  return 0;
}

}  // namespace fuselage
