#include "tools/options/page_options.h"

#include <fmt/format.h>

#include <iostream>
#include <utility>

#include "base/files/compression.h"
#include "fuselage/base/error.h"
#include "tools/options/input_files.h"

namespace fuselage {
namespace {

std::string read_standard_input() {
  constexpr std::size_t kBlock = std::size_t{1} << 16;
  std::string text;
  for (std::streamsize size = 1; size > 0;) {
    if (text.size() > kMaxPageBytes)
      throw Error(
          fmt::format("standard input has more than {} bytes; divide the document", kMaxPageBytes));
    const std::size_t end = text.size();
    text.resize(end + kBlock);
    std::cin.read(text.data() + end, kBlock);
    size = std::cin.gcount();
    text.resize(end + static_cast<std::size_t>(size));
  }
  if (std::cin.bad()) throw Error("standard input cannot be read to its end");
  return text;
}

}  // namespace

void PageCommandOptions::add_to(CLI::App& app) {
  app.add_flag("--text", text,
               "The input is one text of any sentences, whose white space stays as it is");
  app.add_flag("--html", html,
               "The input is one document of HTML, or a text with tags, which keep their places")
      ->excludes("--text");
  app.add_option("--text-language", language,
                 "With --text and --html: the language of the text, by whose abbreviations "
                 "sentences are found: en, deu_Latn")
      ->type_name("CODE")
      ->default_str("the model's");
  app.add_option("--through", through,
                 "Translate what the model gives by this model too: from German to English, then "
                 "through one from English to French")
      ->type_name("MODEL");
}

PageOptions PageCommandOptions::page() const {
  return {.kind = html ? PageKind::html : PageKind::text, .language = language};
}

void PageCommandOptions::expect_page(const OutputFormat& format,
                                     const TranslatorOptions& options) const {
  const std::pair<bool, std::string_view> lines[] = {{format.n_best, "--n-best"},
                                                     {format.json, "--json"},
                                                     {format.word_scores, "--word-scores"},
                                                     {format.alignment.has_value(), "--alignment"},
                                                     {options.force_decode, "--force-decode"},
                                                     {options.constraints, "--constraints"}};
  for (const auto& [given, name] : lines)
    if (given)
      throw Error(fmt::format("{} gives one document, and {} is for lines; leave one of them out",
                              html ? "--html" : "--text", name));
}

void PageCommandOptions::expect_fitting(const OutputFormat& format,
                                        const TranslatorOptions& options,
                                        const std::vector<std::string>& inputs) const {
  if (!is_page()) {
    if (!language.empty())
      throw Error("--text-language is for documents; add --text or --html, or leave it out");
    if (!through.empty() && (options.force_decode || options.constraints))
      throw Error(fmt::format("--through cannot go with {}, whose fields are for one model",
                              options.force_decode ? "--force-decode" : "--constraints"));
    return;
  }
  expect_page(format, options);
  if (inputs.size() > 1)
    throw Error(fmt::format("{} takes one document, but {} are given; translate them one by one",
                            html ? "--html" : "--text", inputs.size()));
}

std::string read_page(const std::string& path) {
  return is_standard_input(path) ? read_standard_input() : read_text(path, kMaxPageBytes);
}

TranslatorOptions options_of_second(TranslatorOptions options) {
  options.source_language.clear();
  options.target_language.clear();
  options.vocabularies = {};
  options.frequency.clear();
  options.terminology.clear();
  options.dictionary.clear();
  options.shortlist.reset();
  options.guided = false;
  return options;
}

}  // namespace fuselage
