#include "text/shortlist/lexicon.h"

#include <fmt/format.h>

#include <memory>
#include <string>
#include <vector>

#include "decoding/lines/line_encoder.h"
#include "decoding/lines/line_reader.h"
#include "decoding/lines/vocabulary_pair.h"
#include "fuselage/base/error.h"
#include "tools/commands/commands.h"
#include "tools/options/files.h"
#include "tools/options/input_files.h"
#include "tools/options/model_command_options.h"
#include "tools/options/number_options.h"

namespace fuselage {
namespace {

class LexiconCommand : public Command {
 public:
  LexiconCommand();
  int run() override;

 private:
  std::vector<SentencePair> read_pairs(const VocabularyPair& vocabularies) const;

  ModelCommandOptions common_;
  std::string source_, target_, output_ = "stdout";
  LexiconOptions lexicon_;
  LexicalLimits limits_;
};

LexiconCommand::LexiconCommand()
    : Command("lexicon", "Make the lexical table of a shortlist from parallel text.",
              {{"fuselage lexicon train.en train.de -m my-model -o lex.s2t",
                "A table as text, for --shortlist lex.s2t 50 50."},
               {"fuselage lexicon train.en.gz train.de.gz -o lex.s2t.bin --first 50 --best 50",
                "Marian's binary form, which has its limits in it."}}) {
  CLI::App& app = options().app();
  options().begin_group(kTextGroup);
  app.add_option("SOURCE", source_, "Sentences, one a line; .gz and .zst are read too")
      ->type_name("SOURCE")
      ->required();
  app.add_option("TARGET", target_, "Their translations")->type_name("TARGET")->required();
  app.add_option("-o,--output", output_, "Where to write; .bin is Marian's binary form, else text")
      ->type_name("FILE")
      ->capture_default_str();
  common_.add_model_to(options());
  // So that texts may follow them.
  app.get_option("--vocabs")->expected(2)->allow_extra_args(false);
  app.get_option("--models")->expected(1)->allow_extra_args(false);
  options().begin_group("Table");
  add_number(app, "--iterations", lexicon_.iterations, "Of the alignment, for each direction",
             {1, 100});
  add_number(app, "--threshold", lexicon_.threshold, "Lower probabilities are left out",
             {0, 1, false});
  add_number(app, "--first", limits_.first, "In .bin: frequent words that every sentence gets",
             {0, 10'000'000});
  add_number(app, "--best", limits_.best, "In .bin: most translations of a source word",
             {1, 10'000'000});
}

/// The words of a line, without the end symbol.
std::vector<WordId> words_of(const LineEncoder& encoder, const std::string& line,
                             std::size_t number) {
  std::vector<WordId> words = encoder.encode(line, number).words;
  words.pop_back();
  return words;
}

std::vector<SentencePair> LexiconCommand::read_pairs(const VocabularyPair& vocabularies) const {
  InputFiles sources({source_}), targets({target_});
  const LineEncoder source(*vocabularies.source, {.text = "source"});
  const LineEncoder target(*vocabularies.target, {.text = "target"});
  std::vector<SentencePair> pairs;
  std::string left, right;
  for (std::size_t number = 0;; ++number) {
    const bool more = read_line(sources.stream(), left);
    if (more != read_line(targets.stream(), right))
      throw Error(
          fmt::format("{} ends after {} lines, {} does not; give files whose lines belong together",
                      more ? target_ : source_, number, more ? source_ : target_));
    if (!more) break;
    SentencePair pair{words_of(source, left, number), words_of(target, right, number)};
    if (!pair.source.empty() && !pair.target.empty()) pairs.push_back(std::move(pair));
  }
  if (pairs.empty())
    throw Error(fmt::format("{} and {} have no pair of sentences to learn from", source_, target_));
  return pairs;
}

int LexiconCommand::run() {
  common_.finish(options());
  const Model model = common_.load(options());
  const VocabularyPair vocabularies = load_vocabulary_pair(model, common_.vocabularies);
  expect_one_text(vocabularies, "a lexicon");
  const std::vector<SentencePair> pairs = read_pairs(vocabularies);
  std::vector<std::string> inputs = common_.files_read;
  inputs.insert(inputs.end(), {source_, target_});
  OutputFile output(output_, inputs);
  const std::vector<LexiconEntry> entries = learn_lexicon(pairs, lexicon_);
  const LexicalSides sides{*vocabularies.source, *vocabularies.target};
  output.write(output_.ends_with(".bin") ? print_lexical_binary(entries, sides, limits_)
                                         : print_lexical_text(entries, sides));
  output.close();
  return 0;
}

}  // namespace

std::unique_ptr<Command> make_lexicon_command() { return std::make_unique<LexiconCommand>(); }

}  // namespace fuselage
