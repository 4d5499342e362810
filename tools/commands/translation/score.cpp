#include <fmt/format.h>

#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "decoding/lines/line_encoder.h"
#include "fuselage/backends/row_frame.h"
#include "fuselage/base/error.h"
#include "fuselage/decoding/n_best_list.h"
#include "fuselage/decoding/output_format.h"
#include "fuselage/decoding/score_summary.h"
#include "fuselage/decoding/scorer.h"
#include "fuselage/tools/open_translator.h"
#include "tools/commands/commands.h"
#include "tools/commands/translation/progress.h"
#include "tools/options/files.h"
#include "tools/options/input_files.h"
#include "tools/options/model_command_options.h"
#include "tools/options/validators.h"

namespace fuselage {
namespace {

class ScoreCommand : public Command {
 public:
  ScoreCommand();
  int run() override;
  Scorer open(const std::vector<std::string>& arguments, const OpenOptions& wanted);

 private:
  void finish();
  void expect_texts(bool pairs) const;
  void write_scores(const Scorer& scorer, const std::vector<std::unique_ptr<InputFiles>>& inputs);
  void score(const Scorer& scorer, const std::vector<std::unique_ptr<InputFiles>>& inputs,
             const Scorer::NBestSink& write) const;

  ModelCommandOptions common_;
  ScorerOptions scorer_;
  OutputFormat format_;
  std::optional<ScoreSummary> summary_;
  std::vector<std::string> texts_;
  std::string alignment_;
  bool n_best_ = false;
  std::string feature_ = "Score";
};

ScoreCommand::ScoreCommand()
    : Command("score",
              "Tell how likely given translations are: the log-probability of each line of TARGET "
              "as a translation of that line of SOURCE, or with a language model of each line of "
              "TEXT. It is normalized by the length when --normalize, a configuration file or the "
              "model's defaults say so.",
              {{"fuselage score -t source.txt target.txt", "One score a line."},
               {"fuselage score --n-best -t source.txt n-best.txt",
                "The entries of an n-best list, each with its score as a further feature."},
               {"fuselage score -m language-model -t source.txt", "The same of a text."}}) {
  common_.add_model_to(options());
  options().begin_group(kTextGroup);
  CLI::App& app = options().app();
  app.add_option("-t,--train-sets", texts_,
                 "Source and target text, line by line; one text for a language model")
      ->expected(1, 2)
      ->type_name("FILE");
  app.add_flag("--n-best", n_best_,
               "TARGET is an n-best list, lines of N ||| text ||| features ||| score, in the order "
               "of the source lines N, from 0; print it with the score as a feature");
  app.add_option("--n-best-feature", feature_, "With --n-best: the name of the feature")
      ->needs("--n-best")
      ->type_name("NAME")
      ->capture_default_str();
  common_.add_languages_to(app);
  add_score_formats(app, format_);
  add_alignment_format(app, alignment_);
  const auto set_summary = [this](const std::string& name) {
    summary_ = name.empty() ? ScoreSummary::ce_mean : score_summary_from_string(name);
  };
  app.add_option_function<std::string>(
         "--summary", set_summary,
         "Print a number for the whole text in place of the scores; without a value ce-mean, the "
         "cross-entropy per line, and with others that per word, that of the text, or the "
         "perplexity per word")
      ->expected(0, 1)
      ->type_name("KIND")
      ->check(one_of(score_summary_names()))
      ->excludes(app.get_option("--json"));
  options().begin_group(kSearchGroup);
  common_.add_scoring_to(app);
  common_.add_running_to(options());
  // Accepts configurations for translating, whose n-best is another one.
  options().pass_over({"added-field",
                       "allow-special",
                       "allow-unk",
                       "beam-size",
                       "checkpoint-seconds",
                       "constraints",
                       "coverage-penalty",
                       "early-stopping",
                       "force-decode",
                       "forced-end",
                       "html",
                       "input",
                       "jsonl",
                       "keep-bad-rows",
                       "keep-beam",
                       "max-length-factor",
                       "max-words",
                       "min-length",
                       "n-best",
                       "no-repeat-ngram-size",
                       "output-folder",
                       "output-sampling",
                       "price-per-hour",
                       "progress-seconds",
                       "renormalize",
                       "repetition-penalty",
                       "replace-unknowns",
                       "resume",
                       "shard",
                       "skip-cost",
                       "terminology",
                       "text",
                       "text-language",
                       "through",
                       "tsv"});
}

void ScoreCommand::finish() {
  common_.apply_to(scorer_);
  common_.apply_languages_to(scorer_);
  scorer_.alignment = format_.alignment.has_value();
}

Scorer ScoreCommand::open(const std::vector<std::string>& arguments, const OpenOptions& wanted) {
  common_.parse_for_program(options(), arguments, wanted.log);
  Model model = common_.load(options());
  finish();
  scorer_.alignment = wanted.alignment;
  scorer_.log = wanted.log;
  return Scorer(std::move(model), scorer_);
}

int ScoreCommand::run() {
  common_.finish(options());
  if (options().given("--alignment")) format_.alignment = parse_alignment_format(alignment_);
  check_feature_name(feature_);
  if (texts_.empty())
    throw Error("give the two texts with -t SOURCE TARGET, or one for a language model");
  if (texts_.size() == 2 && is_standard_input(texts_[0]) && is_standard_input(texts_[1]))
    throw Error("standard input cannot be both texts; give one of them as a file");
  std::vector<std::unique_ptr<InputFiles>> inputs;
  for (const std::string& text : texts_)
    inputs.push_back(std::make_unique<InputFiles>(std::vector{text}));
  Model model = common_.load(options());
  expect_texts(has_source(model.graph));
  finish();
  const Scorer scorer(std::move(model), scorer_);
  if (!common_.quiet)
    for (const std::string& note : scorer.notes()) print_note(note);
  write_scores(scorer, inputs);
  print_use(common_, scorer);
  return 0;
}

void ScoreCommand::expect_texts(bool pairs) const {
  if (pairs && texts_.size() != 2)
    throw Error("the model translates; give the two texts with -t SOURCE TARGET");
  if (!pairs && texts_.size() != 1)
    throw Error("the model is a language model, which reads no source; give one text with -t TEXT");
}

void ScoreCommand::score(const Scorer& scorer,
                         const std::vector<std::unique_ptr<InputFiles>>& inputs,
                         const Scorer::NBestSink& write) const {
  const auto lines = [&](std::size_t, PairScore&& score) { write({}, std::move(score)); };
  std::istream& first = inputs.front()->stream();
  if (inputs.size() == 1)
    n_best_ ? scorer.score_n_best(first, write) : scorer.score(first, lines);
  else if (n_best_)
    scorer.score_n_best(first, inputs[1]->stream(), write);
  else
    scorer.score(first, inputs[1]->stream(), lines);
}

void ScoreCommand::write_scores(const Scorer& scorer,
                                const std::vector<std::unique_ptr<InputFiles>>& inputs) {
  std::vector<std::string> files = common_.files_read;
  files.insert(files.end(), texts_.begin(), texts_.end());
  OutputFile output(common_.output, files);
  std::vector<LineNotes> notes;
  for (const std::string& text : texts_) notes.emplace_back(*scorer.options().max_length, text);
  // An n-best list has its source lines several times.
  Progress progress((n_best_ ? inputs.back() : inputs.front())->size_bytes(),
                    common_.quiet || output.is_terminal());
  ScoreTotals totals;
  std::size_t target_line = 0;
  score(scorer, inputs, [&](NBestEntry&& entry, PairScore&& score) {
    totals.add(score);
    const std::size_t line = target_line++;
    if (!summary_)
      output.write(n_best_ ? format_n_best_score(entry, score, feature_, format_)
                           : format_score(line, score, format_));
    if (notes.size() == 2)
      notes.front().add(n_best_ ? entry.source_line : line, score.source_oddities);
    notes.back().add(line, score.target_oddities);
    progress.add(score.source_words, n_best_ ? entry.line.size() + 1 : score.source_bytes);
  });
  if (summary_) output.write(fmt::format("{:g}\n", totals.summary(*summary_)));
  output.close();
  progress.finish();
  if (common_.quiet) return;
  for (const LineNotes& text : notes)
    for (const std::string& note : text.notes()) print_note(note);
}

}  // namespace

Scorer open_scorer(const std::vector<std::string>& arguments, const OpenOptions& options) {
  return ScoreCommand().open(arguments, options);
}

std::unique_ptr<Command> make_score_command() { return std::make_unique<ScoreCommand>(); }

}  // namespace fuselage
