#include <chrono>
#include <string>
#include <vector>

#include "decoding/output_format.h"
#include "decoding/translator.h"
#include "tools/commands.h"
#include "tools/files.h"
#include "tools/model_options.h"
#include "tools/progress.h"
#include "tools/shortlist_options.h"

namespace fuselage {
namespace {

struct TranslateOptions {
  ModelOptions common;
  TranslatorOptions translator;
  OutputFormat format;
  std::string input = "stdin";
  std::string alignment;

  void add_to(Options& options);
  void finish();
};

void TranslateOptions::add_to(Options& options) {
  common.add_model_to(options);
  CLI::App& app = options.app();
  SearchOptions& search = translator.search;
  app.add_option("-i,--input", input, "Text to translate, a sentence a line")
      ->capture_default_str();
  app.add_option("-b,--beam-size", search.beam_size, "Hypotheses that are followed at a time")
      ->check(limits_of("beam-size"))
      ->capture_default_str();
  common.add_scoring_to(app, search.word_penalty);
  app.add_option("--max-length-factor", search.max_length_factor,
                 "Most words of a translation per word of its source, the end symbols counted")
      ->check(limits_of("max-length-factor"))
      ->capture_default_str();
  app.add_flag("--allow-unk", translator.allow_unk, "The unknown word may be produced");
  app.add_flag("--allow-special", translator.allow_special,
               "Control characters of SentencePiece may be produced");
  app.add_flag("--skip-cost", translator.skip_cost,
               "Scores are not normalized, which is faster; needs a beam of 1");
  app.add_flag("--n-best", format.n_best, "Print all hypotheses, with scores");
  app.add_flag("--word-scores", format.word_scores, "Print the score of each word");
  app.add_option("--alignment", alignment,
                 "Print the alignment: hard (without a value), soft, or pairs above a weight")
      ->expected(0, 1);
  add_shortlist_options(app, translator.shortlist);
  common.add_running_to(options);
}

void TranslateOptions::finish() {
  common.apply_to(translator);
  translator.search.normalize = common.length_exponent();
  translator.search.alignment = format.alignment.has_value();
}

}  // namespace

int run_translate(const std::vector<std::string>& arguments) {
  TranslateOptions o;
  Options options("translate", "Translate lines of text: one line of output per line of input.");
  o.add_to(options);
  if (!options.parse(arguments)) return 0;
  o.common.finish(options);
  if (options.given("--alignment")) o.format.alignment = parse_alignment_format(o.alignment);

  InputFile input(o.input);
  Model model = o.common.load(options);
  o.finish();
  const Translator translator(std::move(model), o.translator);
  if (!o.common.quiet)
    for (const std::string& note : translator.notes()) print_note(note);

  std::vector<std::string> inputs = o.common.files_read;
  inputs.push_back(o.input);
  if (!o.translator.shortlist.path.empty()) inputs.push_back(o.translator.shortlist.path);
  OutputFile output(o.common.output, inputs);
  LineNotes notes(o.common.max_length);
  Progress progress(input.size_bytes(), o.common.quiet || output.is_terminal());
  const auto print = [&](std::size_t line, Translation&& translation) {
    output.write(format_translation(line, translation, o.format));
    notes.add(line, translation.oddities);
    progress.add(translation.source_words, translation.source_bytes);
  };
  translator.translate(input.stream(), print,
                       [&](std::chrono::milliseconds timeout) { return input.ready(timeout); });
  output.close();
  progress.finish();
  if (!o.common.quiet)
    for (const std::string& note : notes.notes()) print_note(note);
  print_use(o.common, translator);
  return 0;
}

}  // namespace fuselage
