#include "models/huggingface/text_files.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <functional>
#include <set>
#include <string_view>
#include <utility>

#include "base/files/file.h"
#include "base/suggest.h"
#include "fuselage/base/error.h"
#include "models/directory/json_object.h"
#include "models/formats/json.h"
#include "models/huggingface/language_pieces.h"

namespace fuselage {
namespace {

using Json = nlohmann::json;

constexpr const char* kTokenizerFile = "tokenizer.json";
constexpr const char* kWordsFile = "vocab.json";
constexpr const char* kPiecesFile = "sentencepiece.bpe.model";
constexpr JsonLimits kWordsLimits{.bytes = std::size_t{64} << 20, .values = 4'000'000};

/// The languages of M2M-100 and of the models of fairseq's for WMT 2021, in the order of their
/// words.
constexpr std::string_view kM2m100Languages =
    "af am ar ast az ba be bg bn br bs ca ceb cs cy da de el en es et fa ff fi fr fy ga gd gl gu "
    "ha "
    "he hi hr ht hu hy id ig ilo is it ja jv ka kk km kn ko lb lg ln lo lt lv mg mk ml mn mr ms my "
    "ne nl no ns oc or pa pl ps pt ro ru sd si sk sl so sq sr ss su sv sw ta th tl tn tr uk ur uz "
    "vi wo xh yi yo zh zu";
constexpr std::string_view kWmt21Languages = "en ha is ja cs ru zh de";

std::vector<std::string> words_of(std::string_view text) {
  std::vector<std::string> words;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find(' '), text.size());
    words.emplace_back(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return words;
}

bool all_of_kind(std::string_view text, int (*kind)(int)) {
  return std::ranges::all_of(text, [kind](char c) { return kind(static_cast<unsigned char>(c)); });
}

int is_small_letter(int c) { return c >= 'a' && c <= 'z' ? 1 : 0; }
int is_capital_letter(int c) { return c >= 'A' && c <= 'Z' ? 1 : 0; }

/// "deu_Latn" of NLLB, "de_DE" and "en_XX" of mBART.
bool names_language(std::string_view word) {
  const std::size_t bar = word.find('_');
  if (bar == std::string_view::npos) return false;
  const std::string_view language = word.substr(0, bar), rest = word.substr(bar + 1);
  if (!all_of_kind(language, is_small_letter)) return false;
  if (language.size() == 2 && rest.size() == 2) return all_of_kind(rest, is_capital_letter);
  return language.size() == 3 && rest.size() == 4 && is_capital_letter(rest[0]) == 1 &&
         all_of_kind(rest.substr(1), is_small_letter);
}

class TextFinder {
 public:
  explicit TextFinder(const HuggingFaceConfig& config)
      : config_(config), tokenizer_(text("tokenizer_class")) {
    // Of the former classes "Fast", with the same words.
    if (tokenizer_.ends_with("Fast")) tokenizer_.resize(tokenizer_.size() - 4);
  }

  TextFiles find() && {
    if (config_.has_file("source.spm"))
      find_marian();
    else if (config_.has_file(kWordsFile) && config_.has_file(kPiecesFile))
      find_m2m100();
    else if (config_.has_file(kTokenizerFile))
      use(kTokenizerFile);
    else if (config_.has_file(kPiecesFile))
      use_fairseq_pieces();
    else if (config_.has_file("spiece.model"))
      use("spiece.model");
    else if (config_.has_file("merges.txt"))
      throw Error(fmt::format(
          "{}: its tokenizer has no {}; write one: python3 -c \"from transformers import "
          "AutoTokenizer as T; T.from_pretrained('{}').save_pretrained('{}')\"",
          config_.directory, kTokenizerFile, config_.directory, config_.directory));
    else
      files_.notes.push_back(
          fmt::format("{} has no files of a tokenizer; give vocabularies", config_.directory));
    if (!files_.vocabularies.empty()) describe();
    return std::move(files_);
  }

 private:
  std::string text(const char* key) const {
    const auto found = config_.tokenizer.find(key);
    return found != config_.tokenizer.end() && found->is_string() ? found->get<std::string>() : "";
  }

  void use(const std::string& file) { files_.vocabularies.assign(2, config_.path(file)); }

  std::string required(const char* file) const {
    if (!config_.has_file(file))
      throw Error(
          fmt::format("{}: {}, a part of the tokenizer, is missing", config_.directory, file));
    return config_.path(file);
  }

  /// Two SentencePiece models, and the words of both sides. Those >>xx<< are target languages.
  void find_marian() {
    files_.splitters = {required("source.spm"), required("target.spm")};
    const std::string words = required(kWordsFile);
    files_.vocabularies = {
        words, config_.has_file("target_vocab.json") ? config_.path("target_vocab.json") : words};
    const Json json = load_json(read_file(words, kWordsLimits.bytes), words, kWordsLimits);
    if (!json.is_object())
      throw Error(fmt::format("{}: it must be an object with the id of each word", words));
    for (const auto& [word, id] : json.items())
      if (word.size() > 4 && word.starts_with(">>") && word.ends_with("<<"))
        add_language(word.substr(2, word.size() - 4), word);
    if (!files_.format.languages.empty()) files_.format.source_prefix = {"{target}"};
    // Symbols have no place in a text.
    for (const char* symbol : {"<pad>", "<unk>"})
      if (const auto found = json.find(symbol); found != json.end())
        if (const auto id = word_id(*found)) files_.format.added_words.push_back({*id, symbol});
  }

  void find_m2m100() {
    files_.splitters.assign(2, config_.path(kPiecesFile));
    use(kWordsFile);
    files_.format.added_words = {{0, "<s>"}, {1, "<pad>"}, {3, "<unk>"}};
    const bool is_wmt21 = text("language_codes") == "wmt21";
    for (const std::string& code : words_of(is_wmt21 ? kWmt21Languages : kM2m100Languages)) {
      const std::string word = fmt::format("__{}__", code);
      files_.format.added_words.push_back({-1, word});
      add_language(code, word);
    }
    if (files_.format.source_language.empty()) files_.format.source_language = "en";
    files_.format.source_prefix = {"{source}"};
    files_.format.target_prefix = {"{target}"};
  }

  /// A SentencePiece model whose pieces have other numbers in the model, and words behind them.
  void use_fairseq_pieces() {
    use(kPiecesFile);
    files_.format.piece_offset = 1;
    files_.format.added_words = {{0, "<s>"}, {1, "<pad>"}, {2, "</s>"}, {3, "<unk>"}};
    const std::vector<std::string> languages = language_words();
    if (languages.empty())
      throw Error(
          fmt::format("{}: no file lists the languages behind the pieces of {}; save the tokenizer "
                      "again, which writes a {}",
                      config_.directory, kPiecesFile, kTokenizerFile));
    for (const std::string& word : languages) files_.format.added_words.push_back({-1, word});
    files_.format.added_words.push_back({-1, "<mask>"});
  }

  /// The words of languages that the settings of the tokenizer list.
  std::vector<std::string> language_words() const {
    std::vector<std::string> words;
    std::set<std::string> seen;
    const auto add = [&](const Json& word) {
      const Json& content =
          word.is_object() && word.contains("content") ? word.at("content") : word;
      if (!content.is_string()) return;
      const auto text = content.get<std::string>();
      if (names_language(text) && seen.insert(text).second) words.push_back(text);
    };
    for (const Json* json : {&config_.tokenizer, &config_.special_tokens_map})
      for (const char* key : {"additional_special_tokens", "extra_special_tokens"})
        if (const auto list = json->find(key); list != json->end() && list->is_array())
          for (const Json& word : *list) add(word);
    if (const auto added = config_.tokenizer.find("added_tokens_decoder");
        words.empty() && added != config_.tokenizer.end() && added->is_object())
      for (const auto& [id, word] : added->items()) add(word);
    if (words.empty() && config_.has_file(kTokenizerFile)) {
      const std::string path = config_.path(kTokenizerFile);
      const Json json = load_json(read_file(path, kWordsLimits.bytes), path, kWordsLimits);
      if (const auto list = json.find("added_tokens"); list != json.end() && list->is_array())
        for (const Json& word : *list) add(word);
    }
    return words;
  }

  void add_language(const std::string& code, const std::string& word) {
    files_.format.languages.push_back({code, word});
  }

  /// What the class of the tokenizer puts around a text.
  void describe() {
    TextFormat& format = files_.format;
    const bool is_legacy_nllb = tokenizer_ == "NllbTokenizer" &&
                                config_.tokenizer.value("legacy_behaviour", Json(false)) == true;
    const bool has_prefix = tokenizer_ == "MBart50Tokenizer" || tokenizer_ == "NllbTokenizer";
    if (has_prefix || tokenizer_ == "MBartTokenizer") {
      for (const std::string& word : language_words()) add_language(word, word);
      const bool before = has_prefix && !is_legacy_nllb;
      (before ? format.source_prefix : format.source_suffix) = {"{source}"};
      format.target_prefix = {"{target}"};
      if (tokenizer_ == "NllbTokenizer") format.source_language = "eng_Latn";
      if (tokenizer_ != "NllbTokenizer") format.source_language = "en_XX";
    }
    if (tokenizer_ == "BartTokenizer" || tokenizer_ == "RobertaTokenizer")
      format.source_prefix = {"<s>"};
    // A decoder that begins with the word of its language has it from the configuration.
    if (tokenizer_ == "MBartTokenizer") format.target_prefix.clear();
    if (const auto first = config_.ids("forced_bos_token_id"); !first.empty())
      format.first_word = first.front();
    if (const auto start = config_.ids("decoder_start_token_id"); !start.empty())
      format.start_word = start.front();
    add_tasks();
    if (tokenizer_ == "T5Tokenizer" && config_.class_name == "T5ForConditionalGeneration")
      add_languages_of_pieces();
    add_default_languages();
    add_suppressed();
  }

  void add_default_languages() {
    TextFormat& format = files_.format;
    const auto set = [&](std::string& language, std::initializer_list<const char*> keys) {
      for (const char* key : keys)
        if (const std::string code = text(key); is_language(code) || is_of_pair(code))
          language = code;
    };
    set(format.source_language, {"source_lang", "src_lang"});
    set(format.target_language, {"target_lang", "tgt_lang"});
  }

  bool is_language(const std::string& code) const {
    return std::ranges::any_of(files_.format.languages,
                               [&](const Language& language) { return language.code == code; });
  }

  /// Whether a Marian model of one pair states this code: "en", "deu", "zh_Hant". Models of a group
  /// of languages state names such as "ROMANCE".
  bool is_of_pair(std::string_view code) const {
    const std::string_view letters = code.substr(0, code.find_first_of("-_"));
    return config_.has_file("source.spm") && files_.format.languages.empty() &&
           (letters.size() == 2 || letters.size() == 3) && all_of_kind(letters, is_small_letter);
  }

  /// The texts before a source text that T5 was trained with: "translation_en_to_de".
  void add_tasks() {
    const auto tasks = config_.model.find("task_specific_params");
    if (tasks == config_.model.end() || !tasks->is_object()) return;
    for (const auto& [name, task] : tasks->items()) {
      constexpr std::string_view kTranslation = "translation_", kTo = "_to_";
      const std::string_view pair = std::string_view(name).substr(
          name.starts_with(kTranslation) ? kTranslation.size() : name.size());
      const std::size_t to = pair.find(kTo);
      if (to == std::string_view::npos || !task.is_object()) continue;
      const auto prefix = task.find("prefix");
      if (prefix == task.end() || !prefix->is_string()) continue;
      files_.format.tasks.push_back({std::string(pair.substr(0, to)),
                                     std::string(pair.substr(to + kTo.size())),
                                     prefix->get<std::string>()});
    }
  }

  /// MADLAD reads its target from the text.
  void add_languages_of_pieces() {
    for (const std::string& code : languages_of_pieces(files_.vocabularies.front())) {
      const std::string word = fmt::format("<2{}>", code);
      add_language(code, word);
      files_.format.tasks.push_back({"", code, word + " "});
    }
  }

  void add_suppressed() {
    files_.format.suppressed = config_.ids("suppress_tokens");
    const Json bad = config_.setting("bad_words_ids");
    if (bad.is_null()) return;
    if (!bad.is_array())
      throw Error(fmt::format("{}: 'bad_words_ids' must be a list of lists of ids, not {}",
                              config_.directory, shown(bad)));
    const std::vector<std::int32_t> ends = config_.ids("eos_token_id");
    for (const Json& words : bad) {
      std::vector<std::int32_t> ids = sequence(words);
      if (ids.size() > 1) files_.format.forbidden.push_back(std::move(ids));
      // Transformers leaves the end symbol, alone, out of them.
      else if (ends.empty() || ids.front() != ends.front())
        files_.format.suppressed.push_back(ids.front());
    }
  }

  /// An entry of `bad_words_ids`.
  std::vector<std::int32_t> sequence(const Json& words) const {
    std::vector<std::int32_t> ids;
    for (const Json& word : words.is_array() ? words : Json())
      if (const auto id = word_id(word)) ids.push_back(*id);
    if (ids.empty() || ids.size() != words.size())
      throw Error(fmt::format("{}: 'bad_words_ids' has {}; each entry must be a list of ids",
                              config_.directory, shown(words)));
    return ids;
  }

  const HuggingFaceConfig& config_;
  std::string tokenizer_;  ///< its class
  TextFiles files_;
};

}  // namespace

TextFiles find_text_files(const HuggingFaceConfig& config) { return TextFinder(config).find(); }

}  // namespace fuselage
