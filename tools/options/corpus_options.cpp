#include "tools/options/corpus_options.h"

#include <fmt/format.h>

#include <filesystem>
#include <map>
#include <utility>

#include "base/suggest.h"
#include "fuselage/base/error.h"
#include "tools/options/input_files.h"
#include "tools/options/number_options.h"

namespace fuselage {
namespace {

/// A week in seconds.
constexpr double kMaxInterval = 604'800;

void expect_lines(const OutputFormat& format, const TranslatorOptions& translator,
                  const std::string& column) {
  if (!column.empty() && translator.force_decode)
    throw Error(
        fmt::format("--tsv has the column {}, whose translation is added to a row, and "
                    "--force-decode is for lines; for marian-decoder's --tsv, which has no value, "
                    "put it before another option; else leave one of them out",
                    in_quotes(column)));
  const char* name = column.empty() ? "--jsonl" : "--tsv";
  const std::pair<bool, const char*> others[] = {{format.n_best, "--n-best"},
                                                 {format.json, "--json"},
                                                 {format.word_scores, "--word-scores"},
                                                 {format.alignment.has_value(), "--alignment"},
                                                 {translator.force_decode, "--force-decode"},
                                                 {translator.constraints, "--constraints"}};
  for (const auto& [given, other] : others)
    if (given)
      throw Error(
          fmt::format("{} adds a translation to a row, and {} is for lines; leave one of "
                      "them out",
                      name, other));
}

}  // namespace

void CorpusCommandOptions::add_to(CLI::App& app) {
  app.add_option_function<std::string>(
         "--shard", [this](const std::string& text) { shard = parse_shard(text); },
         "Translate the I-th of N shares of the lines, every N-th line from the I-th; with "
         "--output-folder of the files")
      ->type_name("I/N");
  CLI::Option* columns =
      app.add_option("--tsv", tsv,
                     "Translate this column of lines with tabs, and add the translation as the "
                     "last one: a number from 1, or a name in the first line of each file; without "
                     "a value, as in marian-decoder, lines have the fields of --force-decode")
          ->expected(0, 1)
          ->type_name("COLUMN");
  app.add_option("--jsonl", jsonl,
                 "Translate this field of lines that are JSON objects, and add the translation as "
                 "another one; with --text its sentences, else its lines")
      ->type_name("FIELD")
      ->excludes(columns);
  app.add_option("--added-field", added, "With --tsv and --jsonl: the name of the translation")
      ->type_name("NAME")
      ->capture_default_str();
  app.add_flag("--keep-bad-rows", keep_bad_rows,
               "With --tsv and --jsonl: write rows that cannot be read as they are, without a "
               "translation; else they are errors");
  app.add_option("--output-folder", folder,
                 "Write the translation of each file to a file of its name in this folder")
      ->type_name("DIR");
  app.add_flag(
      "--resume", resume,
      "Write the output aside, as FILE.part, until it is complete, and go on where a "
      "process with the same options that was killed or lost has come to, by FILE.journal");
  add_number(app, "--checkpoint-seconds", checkpoint_seconds,
             "With --resume and --output-folder: how often what is translated is brought to the "
             "disk, and so the most that is translated again",
             {.least = 0, .most = kMaxInterval, .whole = false});
  add_number(app, "--progress-seconds", progress_seconds,
             "Print a line of progress so often where standard error is no terminal; 0: none",
             {.least = 0, .most = kMaxInterval, .whole = false});
  add_number(app, "--price-per-hour", price_per_hour,
             "Tell with the progress what a million words cost at this price of the machine",
             {.least = 0, .most = 1e6, .whole = false})
      ->default_str("unknown");
}

void CorpusCommandOptions::expect_column(Options& options, const TranslatorOptions& translator,
                                         std::size_t source_texts) const {
  if (!options.given("--tsv") || !tsv.empty()) return;
  if (translator.force_decode || translator.constraints || source_texts > 1) return;
  throw Error(
      "--tsv needs the column to translate, its number or its name, as --tsv 2; without one, as in "
      "marian-decoder, it is for lines with a prefix behind a tab: add --force-decode, or leave "
      "it out");
}

std::string CorpusCommandOptions::output_of(const std::string& input) const {
  return (std::filesystem::path(folder) / std::filesystem::path(input).filename()).string();
}

void CorpusCommandOptions::expect_fitting(Options& options, const OutputFormat& format,
                                          const TranslatorOptions& translator,
                                          const PageCommandOptions& pages,
                                          const std::vector<std::string>& inputs,
                                          const std::string& output) const {
  if (has_fields()) {
    expect_lines(format, translator, tsv);
    if (pages.html || (pages.text && !tsv.empty()))
      throw Error(fmt::format("{} cannot go with {}; only --jsonl and --text can go together",
                              pages.html ? "--html" : "--text", tsv.empty() ? "--jsonl" : "--tsv"));
  } else {
    for (const char* name : {"--added-field", "--keep-bad-rows"})
      if (options.given(name))
        throw Error(fmt::format("{} is for rows with fields; add --tsv or --jsonl", name));
    for (const char* name : {"--shard", "--resume", "--output-folder"})
      if (pages.is_page() && options.given(name))
        throw Error(fmt::format("{} is for lines, and {} takes one document; leave one of them out",
                                name, pages.html ? "--html" : "--text"));
  }
  if (has_fields() && !pages.text && !pages.language.empty())
    throw Error("--text-language is for sentences; add --text, or leave it out");
  if (resume && folder.empty() && (output == "-" || output == "stdout"))
    throw Error("--resume goes on with a file; give one with -o, or a folder with --output-folder");
  if (is_job() && options.given("--shortlist-union"))
    throw Error(
        "--shortlist-union makes translations depend on their neighbours, so that none can "
        "be gone on with; leave it out");
  if (folder.empty()) return;
  if (options.given("--output"))
    throw Error(
        "--output-folder has an output for each input, --output one for all; leave one of "
        "them out");
  std::map<std::string, std::string> outputs;
  for (const std::string& input : inputs) {
    if (is_standard_input(input))
      throw Error(
          "--output-folder writes a file for each input file, but standard input has no "
          "name; give files, or use -o");
    const auto [before, is_new] = outputs.emplace(output_of(input), input);
    if (!is_new)
      throw Error(
          fmt::format("{} and {} would both be translated to {}; give one of them another "
                      "name",
                      before->second, input, before->first));
  }
}

}  // namespace fuselage
