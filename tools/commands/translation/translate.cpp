#include <array>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "decoding/lines/vocabulary_pair.h"
#include "fuselage/backends/search.h"
#include "fuselage/decoding/output_format.h"
#include "fuselage/decoding/page_translator.h"
#include "fuselage/decoding/translator.h"
#include "fuselage/models/bundled_model.h"
#include "fuselage/models/load_model.h"
#include "fuselage/tools/open_translator.h"
#include "models/decode_keys.h"
#include "tools/commands/commands.h"
#include "tools/commands/open_model.h"
#include "tools/commands/translation/translate_corpus.h"
#include "tools/options/corpus_options.h"
#include "tools/options/files.h"
#include "tools/options/model_command_options.h"
#include "tools/options/number_options.h"
#include "tools/options/page_options.h"
#include "tools/options/repetition_options.h"
#include "tools/options/sampling_options.h"
#include "tools/options/shortlist_options.h"
#include "tools/options/validators.h"

namespace fuselage {
namespace {

class TranslateCommand : public Command {
 public:
  TranslateCommand();
  int run() override;
  Translator open(const std::vector<std::string>& arguments, const Log& log,
                  const AdjustOptions& adjust);

 private:
  void add_search_options();
  Model load();
  void finish();
  std::vector<std::string> files_read() const;
  void open_second();
  void align_tags(Model& model, TranslatorOptions& options) const;
  void translate_page(const Translator& translator);
  void translate_lines(const Translator& translator);

  ModelCommandOptions common_;
  TranslatorOptions translator_;
  ShortlistChoice shortlist_;
  OutputFormat format_;
  std::int32_t n_best_size_ = 0;
  std::vector<std::string> inputs_ = {"stdin"};
  std::string alignment_;
  PageCommandOptions pages_;
  CorpusCommandOptions corpus_;
  std::unique_ptr<const Translator> second_;  ///< null: one model
};

TranslateCommand::TranslateCommand()
    : Command("translate", "Translate lines of text: one line of output per line of input.",
              {{"echo 'Tom is my friend.' | fuselage translate",
                "With the bundled model, from English to German."},
               {"fuselage translate -i in.txt -o out.txt", "A file, on all processors."},
               {"fuselage translate -c model.npz.decoder.yml -i in.txt",
                "With a Marian model and its decoder configuration."},
               {"fuselage translate --n-best --json -i in.txt",
                "All hypotheses of the beam, a JSON object per line."},
               {"fuselage translate --html -i page.html -o seite.html",
                "A document, whose tags keep their places."},
               {"fuselage translate --jsonl text --shard 3/100 --resume crawl/*.gz -o 3.jsonl.gz",
                "A share of a large text; started again, it goes on where it was."}}) {
  common_.add_model_to(options());
  options().begin_group(kTextGroup);
  CLI::App& app = options().app();
  app.add_option("FILE,-i,--input", inputs_,
                 "Text to translate, a sentence a line; several are translated one after another, "
                 "and their lines numbered on; - is standard input. What ends in .gz or .zst is "
                 "expanded")
      ->type_name("FILE")
      ->default_str("stdin");
  app.add_flag("--n-best", format_.n_best,
               "Print all hypotheses, with scores, of an ensemble by each model");
  add_number(app, "--n-best-size", n_best_size_, "With --n-best: print only so many, the best ones",
             {1, 1024})
      ->needs("--n-best")
      ->default_str("the beam size");
  common_.add_languages_to(app);
  pages_.add_to(app);
  corpus_.add_to(app);
  add_score_formats(app, format_);
  add_alignment_format(app, alignment_);
  options().begin_group(kSearchGroup);
  add_search_options();
  common_.add_running_to(options());
}

void TranslateCommand::add_search_options() {
  CLI::App& app = options().app();
  add_number(app, "-b,--beam-size", translator_.beam_size, "Hypotheses that are followed at a time",
             range_of("beam-size"))
      ->default_str("the model's, or 12");
  common_.add_scoring_to(app);
  add_number(app, "--max-length-factor", translator_.max_length_factor,
             "Most words of a translation per word of its source, the end symbols counted",
             range_of("max-length-factor"))
      ->default_str("the model's, or 3");
  add_number(app, "--max-words", translator_.max_words,
             "Most words of a translation, whatever its source, in the place of "
             "--max-length-factor; 0: by the factor",
             {0, kMaxWords})
      ->default_str("the model's, or 0");
  app.add_flag_function(
      "--keep-beam", [this](std::int64_t count) { translator_.keep_beam = count > 0; },
      "The beam keeps its width: hypotheses that end leave their places to others, as in "
      "Transformers");
  app.add_option_function<std::string>(
         "--early-stopping",
         [this](const std::string& when) {
           DecodeDefaults parsed;
           set_decode_default(parsed, "early-stopping", when, "--early-stopping");
           translator_.early_stopping = parsed.early_stopping;
         },
         "With --keep-beam: the search ends when no open hypothesis can be among the best (never), "
         "when the best open one is worse at its present length (heuristic), or when as many have "
         "ended as the beam is wide (first)")
      ->type_name("WHEN")
      ->check(one_of(std::array<std::string_view, 3>{"never", "heuristic", "first"}))
      ->default_str("the model's, or never");
  app.add_flag_function(
      "--forced-end", [this](std::int64_t count) { translator_.forced_end = count > 0; },
      "The last word at the length limit is the end symbol, with a score of 0");
  app.add_flag_function(
      "--renormalize", [this](std::int64_t count) { translator_.renormalize = count > 0; },
      "Log-probabilities are normalized over the words that can be produced: without those that "
      "are never produced, would repeat an n-gram or complete a forbidden sequence");
  app.add_flag_function(
      "--allow-unk", [this](std::int64_t count) { translator_.allow_unk = count > 0; },
      "The unknown word may be produced");
  app.add_option_function<std::string>(
         "--replace-unknowns",
         [this](const std::string& path) {
           translator_.replace_unknowns = true;
           translator_.dictionary = path;
         },
         "Unknown words are produced, and replaced by the source words that they are aligned with, "
         "or by their translations in DICTIONARY: lines of a word, a tab and its translation")
      ->expected(0, 1)
      ->type_name("DICTIONARY");
  add_number(app, "--coverage-penalty", translator_.coverage_penalty,
             "Add to a score this times the logarithms of how well the translation covers each "
             "source token",
             {.least = 0, .most = 1000, .whole = false});
  app.add_flag("--allow-special", translator_.allow_special,
               "Control characters of SentencePiece may be produced");
  add_sampling_option(app, translator_.sampling);
  add_seed_option(app, translator_.seed);
  app.add_flag("--skip-cost", translator_.skip_cost,
               "Scores are not normalized, which is faster; needs a beam of 1");
  add_repetition_options(app, translator_);
  app.add_flag("--force-decode", translator_.force_decode,
               "A line has a further field, behind a tab, with words that its translation begins "
               "with");
  app.add_flag("--constraints", translator_.constraints,
               "A line has, behind tabs, a further field for each term of its translation; ||| "
               "separates the forms of a term, of which one has to occur");
  app.add_option("--terminology", translator_.terminology,
                 "Lines of a source term and forms of its translation, separated by tabs: where "
                 "the source has the term, the translation has one of the forms")
      ->type_name("FILE");
  app.add_option_function<std::string>(
         "--placeholders",
         [this](const std::string& words) {
           translator_.placeholders = CLI::detail::split(words, ',');
         },
         "Words that the model copies, separated by commas: in their place characters that the "
         "vocabulary cannot write, such as emoji, and addresses come through as they are")
      ->type_name("WORDS")
      ->default_str("the model's");
  app.add_flag_function(
         "--no-placeholders", [this](std::int64_t) { translator_.placeholders.emplace(); },
         "Do without the placeholders that the model has")
      ->excludes("--placeholders");
  shortlist_.add_to(app);
  shortlist_.add_union_to(app);
}

void TranslateCommand::finish() {
  common_.apply_to(translator_);
  common_.apply_languages_to(translator_);
  if (auto shortlist = shortlist_.given()) translator_.shortlist = std::move(shortlist);
  translator_.alignment = format_.alignment.has_value();
  translator_.model_scores = format_.n_best;
  if (!format_.n_best)
    translator_.n_best = 1;
  else if (options().given("--n-best-size"))
    translator_.n_best = n_best_size_;
}

Model TranslateCommand::load() {
  Model model = common_.load(options());
  if (shortlist_.union_of_batch()) model.shortlist.union_of_batch = true;
  return model;
}

Translator TranslateCommand::open(const std::vector<std::string>& arguments, const Log& log,
                                  const AdjustOptions& adjust) {
  common_.parse_for_program(options(), arguments, log);
  Model model = load();
  finish();
  adjust(model, translator_);
  return Translator(std::move(model), translator_);
}

/// Files that are read besides the inputs.
std::vector<std::string> TranslateCommand::files_read() const {
  std::vector<std::string> files = common_.files_read;
  for (const std::string& path :
       {shortlist_.path(), translator_.terminology, translator_.dictionary, pages_.through})
    if (!path.empty()) files.push_back(path);
  return files;
}

/// The alignment of a document's tags is of use, but the model may do without.
void TranslateCommand::align_tags(Model& model, TranslatorOptions& options) const {
  if (!pages_.html) return;
  options.alignment = model.graph.find_output(kAlignment).valid();
  if (!options.alignment && !common_.quiet)
    print_note("the model has no alignment: tags stay at the same part of their sentence");
}

void TranslateCommand::open_second() {
  if (pages_.through.empty()) return;
  TranslatorOptions options = options_of_second(translator_);
  pages_.through = model_path(pages_.through);
  Model model = load_model(pages_.through);
  align_tags(model, options);
  second_ = std::make_unique<const Translator>(std::move(model), options);
}

int TranslateCommand::run() {
  common_.finish(options());
  if (options().given("--alignment")) format_.alignment = parse_alignment_format(alignment_);
  if (!corpus_.has_fields()) pages_.expect_fitting(format_, translator_, inputs_);
  corpus_.expect_fitting(options(), format_, translator_, pages_, inputs_, common_.output);

  Model model = load();
  corpus_.expect_column(options(), translator_, source_texts(model.graph).size());
  finish();
  open_second();
  align_tags(model, translator_);
  const Translator translator(std::move(model), translator_);
  if (!common_.quiet)
    for (const Translator* each : {&translator, second_.get()})
      if (each)
        for (const std::string& note : each->notes()) print_note(note);
  if (pages_.is_page() && !corpus_.has_fields())
    translate_page(translator);
  else
    translate_lines(translator);
  print_use(common_, translator);
  return 0;
}

void TranslateCommand::translate_page(const Translator& translator) {
  std::string page = read_page(inputs_.front());
  std::vector<std::string> files = files_read();
  files.push_back(inputs_.front());
  OutputFile output(common_.output, files);
  PageOptions options = pages_.page();
  if (!common_.quiet) options.log = print_note;
  output.write(PageTranslator(translator, options, second_.get()).translate(std::move(page)));
  output.close();
}

void TranslateCommand::translate_lines(const Translator& translator) {
  translate_corpus({.options = options(),
                    .corpus = corpus_,
                    .pages = pages_,
                    .format = format_,
                    .inputs = inputs_,
                    .output = common_.output,
                    .files_read = files_read(),
                    .quiet = common_.quiet,
                    .translator = translator,
                    .second = second_.get()});
}

}  // namespace

Translator open_translator(const std::vector<std::string>& arguments, const OpenOptions& options) {
  return TranslateCommand().open(arguments, options.log,
                                 [&](const Model&, TranslatorOptions& translator) {
                                   translator.alignment = options.alignment;
                                   translator.model_scores = options.model_scores;
                                   translator.n_best = options.n_best;
                                   translator.guided = options.guided;
                                   translator.log = options.log;
                                 });
}

Translator open_adjusted_translator(const std::vector<std::string>& arguments, const Log& log,
                                    const AdjustOptions& adjust) {
  return TranslateCommand().open(arguments, log, [&](const Model& model, TranslatorOptions& o) {
    o.model_scores = false;
    adjust(model, o);
  });
}

std::unique_ptr<Command> make_translate_command() { return std::make_unique<TranslateCommand>(); }

}  // namespace fuselage
