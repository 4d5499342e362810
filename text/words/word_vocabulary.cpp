#include "text/words/word_vocabulary.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <initializer_list>
#include <iterator>
#include <tuple>
#include <unordered_map>
#include <utility>

#include "base/suggest.h"
#include "fuselage/base/error.h"
#include "text/split.h"
#include "text/words/word_list.h"

namespace fuselage {
namespace {

constexpr std::string_view kEnd = "</s>";
constexpr std::string_view kUnknown = "<unk>";

struct StringHash {
  using is_transparent = void;
  std::size_t operator()(std::string_view text) const {
    return std::hash<std::string_view>()(text);
  }
};

class WordVocabulary : public Vocabulary {
 public:
  /// `entries` are sorted by id.
  WordVocabulary(std::vector<WordEntry> entries, bool is_mapping, const std::string& name,
                 VocabularyOptions options)
      : entries_(std::move(entries)) {
    options.added_words = numbered(std::move(options.added_words), words_end());
    ids_.reserve(entries_.size());
    for (const WordEntry& entry : entries_)
      if (!ids_.emplace(entry.word, entry.id).second)
        throw Error(fmt::format("{}: the word {} occurs twice", name, in_quotes(entry.word)));
    added_ = AddedWords(options.added_words, 0, name);
    check_added_words(options.added_words, name);
    find_symbols(is_mapping, name, options);
    stored_size_ = words_end();
    if (options.limit > 0) apply_limit(options, name);
    size_ = std::max(words_end(), static_cast<WordId>(options.least_size));
    stored_size_ = std::max(stored_size_, size_);
  }

  std::vector<WordId> encode(std::string_view line) const override {
    std::vector<WordId> ids;
    for_each_word(without_carriage_return(line), [&](std::string_view word) {
      const auto found = ids_.find(word);
      const bool is_known = found != ids_.end() && !is_added(found->second);
      ids.push_back(is_known ? found->second : unknown_id_);
    });
    ids.push_back(end_id_);
    return ids;
  }

  std::vector<std::string> texts(std::string_view line) const override {
    std::vector<std::string> words;
    for_each_word(without_carriage_return(line),
                  [&words](std::string_view word) { words.emplace_back(word); });
    return words;
  }

  using Vocabulary::decode;
  std::string decode(std::span<const WordId> ids,
                     std::span<const std::string> texts) const override {
    return joined_words(*this, ids, texts);
  }

  std::optional<WordId> find(std::string_view word) const override {
    if (const std::optional<WordId> id = added_.find(word)) return id;
    const auto found = ids_.find(word);
    return found == ids_.end() ? std::nullopt : std::optional(found->second);
  }

  std::string_view word(WordId id) const override {
    if (is_added(id)) return added_.text(id);
    const WordEntry* entry = find_entry(id);
    return entry ? std::string_view(entry->word) : std::string_view();
  }

 private:
  const WordEntry* find_entry(WordId id) const {
    // Without gaps, the index of an entry is its id.
    const auto place = static_cast<std::size_t>(id);
    if (id >= 0 && place < entries_.size() && entries_[place].id == id) return &entries_[place];
    const auto found =
        std::lower_bound(entries_.begin(), entries_.end(), id,
                         [](const WordEntry& entry, WordId wanted) { return entry.id < wanted; });
    return found != entries_.end() && found->id == id ? &*found : nullptr;
  }

  /// Whether slot `id` of a Nematus dictionary is `symbol`; if so, the slot gets that name.
  bool claim_slot(WordId id, std::initializer_list<std::string_view> names,
                  std::string_view symbol) {
    if (id > entries_.back().id) return false;
    const std::string_view held = word(id);
    if (std::find(names.begin(), names.end(), held) == names.end()) return false;
    const auto place =
        std::lower_bound(entries_.begin(), entries_.end(), id,
                         [](const WordEntry& entry, WordId wanted) { return entry.id < wanted; });
    if (place != entries_.end() && place->id == id)
      place->word = symbol;
    else
      entries_.insert(place, WordEntry{id, std::string(symbol)});
    ids_.insert_or_assign(std::string(symbol), id);
    return true;
  }

  /// The highest id of a word plus one.
  WordId words_end() const {
    return std::max(entries_.empty() ? 0 : entries_.back().id + 1, added_.end());
  }

  /// Throws Error for an added word whose id or text belongs to another word of the file.
  void check_added_words(const std::vector<WordEntry>& words, const std::string& name) const {
    for (const WordEntry& added : words) {
      const WordEntry* held = find_entry(added.id);
      if (held != nullptr && held->word != added.word)
        throw Error(
            fmt::format("{}: id {} belongs to {}, so that it cannot be that of the added "
                        "word {}",
                        name, added.id, in_quotes(held->word), in_quotes(added.word)));
      if (const auto found = ids_.find(added.word);
          found != ids_.end() && found->second != added.id)
        throw Error(fmt::format("{}: the added word {} has the id {}, but {} in the file", name,
                                in_quotes(added.word), added.id, found->second));
    }
  }

  void find_symbols(bool is_mapping, const std::string& name, const VocabularyOptions& options) {
    if (!options.end.empty() || !options.unknown.empty()) {
      const auto stated = [](const std::string& symbol, std::string_view usual) {
        return symbol.empty() ? usual : std::string_view(symbol);
      };
      const std::string_view unknown = stated(options.unknown, kUnknown);
      end_id_ = required(stated(options.end, kEnd), "end symbol", name);
      unknown_id_ = is_mapping ? required(unknown, "unknown symbol", name) : last_word(unknown);
      return;
    }
    const bool has_go = word(0) == "<EOS>" && word(1) == "<GO>";
    if (is_mapping && claim_slot(0, {"eos", "<EOS>"}, kEnd))
      end_id_ = 0;
    else
      end_id_ = required(kEnd, "end symbol", name);
    if (is_mapping && claim_slot(1, {"UNK", ""}, kUnknown))
      unknown_id_ = 1;
    else if (const auto found = ids_.find(std::string_view("<UNK>")); has_go && found != ids_.end())
      unknown_id_ = found->second;
    else
      unknown_id_ = is_mapping ? required(kUnknown, "unknown symbol", name) : last_word(kUnknown);
  }

  /// The id of a symbol, which a list that lacks it has behind its last word, as in CTranslate2.
  WordId last_word(std::string_view symbol) {
    if (const std::optional<WordId> id = find(symbol)) return *id;
    const WordId next = entries_.back().id + 1;
    ids_.emplace(symbol, next);
    entries_.push_back({next, std::string(symbol)});
    return next;
  }

  WordId required(std::string_view symbol, std::string_view meaning, const std::string& name) {
    const std::optional<WordId> id = find(symbol);
    if (!id)
      throw Error(
          fmt::format("{}: the vocabulary has no {} {}; add it with the id that the model uses",
                      name, meaning, symbol));
    return *id;
  }

  void apply_limit(const VocabularyOptions& options, const std::string& name) {
    const std::int64_t limit = options.limit;
    if (end_id_ >= limit || unknown_id_ >= limit)
      throw Error(
          fmt::format("{}: end symbol {} or unknown symbol {} is not below the limit of {} words",
                      name, end_id_, unknown_id_, limit));
    added_ = AddedWords(options.added_words, limit, name);
    while (!entries_.empty() && entries_.back().id >= limit) entries_.pop_back();
    for (auto at = ids_.begin(); at != ids_.end();)
      at = at->second >= limit ? ids_.erase(at) : std::next(at);
  }

  std::vector<WordEntry> entries_;
  std::unordered_map<std::string, WordId, StringHash, std::equal_to<>> ids_;
};

}  // namespace

std::unique_ptr<const Vocabulary> parse_word_vocabulary(std::string_view bytes,
                                                        std::string_view extension,
                                                        const std::string& name,
                                                        const VocabularyOptions& options) {
  const bool is_list = extension == "json" && is_word_list(bytes);
  const bool is_mapping =
      !is_list && (extension == "yml" || extension == "yaml" || extension == "json");
  std::vector<WordEntry> entries = is_list      ? parse_word_list(bytes, name)
                                   : is_mapping ? parse_word_mapping(bytes, name)
                                                : parse_word_lines(bytes, name);
  if (entries.empty()) throw Error(fmt::format("{}: the vocabulary has no words", name));
  const auto before = [](const WordEntry& a, const WordEntry& b) {
    return std::tie(a.id, a.word) < std::tie(b.id, b.word);
  };
  // Most files are sorted.
  if (!std::is_sorted(entries.begin(), entries.end(), before))
    std::sort(entries.begin(), entries.end(), before);
  for (std::size_t i = 1; i < entries.size(); ++i)
    if (entries[i].id == entries[i - 1].id)
      throw Error(fmt::format("{}: id {} belongs to two words, {} and {}", name, entries[i].id,
                              in_quotes(entries[i - 1].word), in_quotes(entries[i].word)));
  return std::make_unique<WordVocabulary>(std::move(entries), is_mapping, name, options);
}

}  // namespace fuselage
