#include "text/tokenizers/vocabulary.h"

#include <fmt/format.h>

#include <algorithm>
#include <unordered_map>
#include <utility>

#include "base/suggest.h"
#include "fuselage/base/error.h"
#include "text/split.h"
#include "text/tokenizers/added_tokens.h"
#include "text/tokenizers/byte_level.h"
#include "text/tokenizers/byte_pairs.h"
#include "text/tokenizers/decoders.h"
#include "text/tokenizers/json_part.h"
#include "text/tokenizers/normalizers.h"
#include "text/tokenizers/piece_table.h"
#include "text/tokenizers/pre_tokenizers.h"
#include "text/tokenizers/tokenizer_file.h"
#include "text/tokenizers/unigram.h"
#include "text/unicode.h"
#include "text/word_boundaries.h"

namespace fuselage {
namespace {

constexpr std::string_view kEndToken = "</s>";
constexpr std::string_view kUnknownToken = "<unk>";
constexpr std::string_view kSpaceSign = "\xE2\x96\x81";
constexpr char kFirstPrintable = 0x20;

bool holds_control_byte(std::string_view bytes) {
  return std::any_of(bytes.begin(), bytes.end(), [](char c) {
    return static_cast<unsigned char>(c) < static_cast<unsigned char>(kFirstPrintable);
  });
}

PieceMerges merges_of(const JsonPart& model, const MergeList& list, const PieceTable& pieces) {
  PieceMerges merges;
  merges.reserve(list.size());
  std::uint32_t rank = 0;
  list.for_each([&](std::string_view left, std::string_view right) {
    const std::string result = std::string(left) + std::string(right);
    const auto id = [&](std::string_view piece) {
      const std::optional<WordId> found = pieces.find(piece);
      if (!found)
        model.refuse(fmt::format("merge {} joins {} and {}, but 'vocab' has no piece {}", rank,
                                 in_quotes(left), in_quotes(right), in_quotes(piece)));
      return *found;
    };
    merges.add(id(left), id(right), {rank, id(result)});
    ++rank;
  });
  return merges;
}

class TokenizerVocabulary : public Vocabulary {
 public:
  TokenizerVocabulary(TokenizerFile file, const std::string& name, const VocabularyOptions& options)
      : options_(options) {
    added_ = AddedWords(options.added_words, options.limit, name);
    const JsonPart steps(file.steps, name, ": ");
    if (steps.has("normalizer")) add_normalizers(steps.part("normalizer"), normalizers_);
    if (steps.has("pre_tokenizer"))
      add_pre_tokenizers(steps.part("pre_tokenizer"), pre_tokenizers_);
    if (steps.has("decoder")) add_decoders(steps.part("decoder"), decoders_);
    writes_bytes_ = std::any_of(pre_tokenizers_.begin(), pre_tokenizers_.end(),
                                [](const auto& each) { return each->writes_bytes(); });
    pieces_ = PieceTable(std::move(file.pieces));
    tokens_ = std::make_unique<AddedTokens>(std::move(file.added_tokens), normalizers_);
    check_ids(name, file.scores.empty());
    stored_size_ = std::max(highest_id() + 1, added_.end());
    size_ = stored_size_;
    if (options.limit > 0) size_ = std::min(size_, static_cast<WordId>(options.limit));
    make_model(steps.part("model"), std::move(file.scores), file.merges);
    if (end_id_ >= size_ || unknown_id_ >= size_)
      throw Error(
          fmt::format("{}: end symbol {} or unknown symbol {} is not below the limit of {} words",
                      name, end_id_, unknown_id_, options.limit));
    words_ = size_;
    size_ = std::max(size_, static_cast<WordId>(options.least_size));
    stored_size_ = std::max(stored_size_, size_);
    find_control_ids();
  }

  std::vector<WordId> encode(std::string_view line) const override {
    std::vector<WordId> ids;
    line = without_carriage_return(line);
    if (options_.sentencepiece_encode)
      for_each_token(line, [&](const AlignedText&, const Token& token) {
        ids.push_back(token.id < words_ ? token.id : unknown_id_);
      });
    else
      for_each_word(line, [&](std::string_view word) {
        const std::optional<WordId> id = find(word);
        ids.push_back(id && !is_added(*id) ? *id : unknown_id_);
      });
    ids.push_back(end_id_);
    return ids;
  }

  std::vector<std::string> texts(std::string_view line) const override {
    std::vector<std::string> texts;
    line = without_carriage_return(line);
    if (!options_.sentencepiece_encode) {
      for_each_word(line, [&](std::string_view word) { texts.emplace_back(word); });
      return texts;
    }
    const std::string valid = with_replaced_errors(line);
    std::vector<TextRange> ranges;
    for_each_token(line, [&](const AlignedText& part, const Token& token) {
      ranges.push_back(part.origin(token.range));
    });
    // A character of several tokens belongs to the last one: those before it are a sign for a space
    // that is not in the line, or bytes of the character.
    std::size_t next = valid.size();
    texts.resize(ranges.size());
    for (std::size_t i = ranges.size(); i-- > 0;) {
      const std::size_t end = std::min(ranges[i].end, next);
      if (ranges[i].begin < end)
        texts[i] = without_outer_spaces(
            std::string_view(valid).substr(ranges[i].begin, end - ranges[i].begin));
      next = std::min(ranges[i].begin, next);
    }
    return texts;
  }

  std::string normalized(std::string_view line) const override {
    if (!options_.sentencepiece_encode) return std::string(line);
    std::vector<DecodedPart> parts;
    for_each_token(line, [&](const AlignedText& part, const Token& token) {
      if (token.id == unknown_id_)
        parts.push_back(
            {part.text().substr(token.range.begin, token.range.end - token.range.begin), true});
      else
        add_part(token.id, parts);
    });
    return fuselage::decode(decoders_, std::move(parts));
  }

  using Vocabulary::decode;
  std::string decode(std::span<const WordId> ids,
                     std::span<const std::string> texts) const override {
    if (!options_.sentencepiece_decode) return joined_words(*this, ids, texts);
    std::vector<DecodedPart> parts;
    for (std::size_t i = 0; i < ids.size(); ++i) {
      if (ids[i] == end_id_ || is_added(ids[i])) continue;
      if (!texts.empty() && !texts[i].empty())
        parts.push_back({texts[i], true});
      else
        add_part(ids[i], parts);
    }
    return fuselage::decode(decoders_, std::move(parts));
  }

  std::string_view word(WordId id) const override {
    if (id < 0 || id >= words_) return "";
    if (is_added(id)) return added_.text(id);
    const auto token = token_index_.find(id);
    return token == token_index_.end() ? pieces_.text(id)
                                       : std::string_view(tokens_->tokens()[token->second].content);
  }

  std::optional<WordId> find(std::string_view word) const override {
    std::optional<WordId> id = added_.find(word);
    if (!id)
      if (const auto token = token_ids_.find(word); token != token_ids_.end()) id = token->second;
    if (!id) id = pieces_.find(word);
    return id && *id < words_ ? id : std::nullopt;
  }

  bool splits_text() const override { return true; }

  bool continues_word(WordId id) const override {
    const std::string_view piece = word(id);
    if (!writes_bytes_) return !piece.starts_with(kSpaceSign) && begins_with_letter(piece);
    const std::string bytes = written_bytes(piece).value_or("");
    const bool is_within_character =
        !bytes.empty() && (static_cast<unsigned char>(bytes[0]) & 0xC0) == 0x80;
    return is_within_character || begins_with_letter(bytes);
  }

 private:
  WordId highest_id() const {
    WordId highest = pieces_.entries().empty() ? -1 : pieces_.entries().back().id;
    for (const AddedToken& token : tokens_->tokens()) highest = std::max(highest, token.id);
    return highest;
  }

  /// Throws Error for an id of two words and a word of two ids. The pieces of a list may repeat a
  /// text, as in the library.
  void check_ids(const std::string& name, bool pieces_differ) {
    const std::vector<WordEntry>& entries = pieces_.entries();
    for (std::size_t i = 1; i < entries.size(); ++i)
      if (entries[i].id == entries[i - 1].id)
        refuse_id(name, entries[i].id, entries[i - 1].word, entries[i].word);
    if (pieces_differ)
      for (const WordEntry& entry : entries)
        if (pieces_.find(entry.word) != entry.id)
          throw Error(fmt::format("{}: the piece {} occurs twice", name, in_quotes(entry.word)));
    for (std::size_t i = 0; i < tokens_->tokens().size(); ++i) {
      const AddedToken& token = tokens_->tokens()[i];
      const std::optional<WordId> piece = pieces_.find(token.content);
      if (piece.value_or(token.id) != token.id)
        throw Error(fmt::format("{}: {} has the id {} as an added token, but {} as a piece", name,
                                in_quotes(token.content), token.id, *piece));
      const std::string_view held = pieces_.text(token.id);
      if (!held.empty() && held != token.content) refuse_id(name, token.id, held, token.content);
      if (const auto [at, is_new] = token_index_.emplace(token.id, i); !is_new)
        refuse_id(name, token.id, tokens_->tokens()[at->second].content, token.content);
      if (!token_ids_.emplace(token.content, token.id).second)
        throw Error(
            fmt::format("{}: the added token {} occurs twice", name, in_quotes(token.content)));
    }
  }

  [[noreturn]] static void refuse_id(const std::string& name, WordId id, std::string_view a,
                                     std::string_view b) {
    throw Error(fmt::format("{}: id {} belongs to two words, {} and {}", name, id, in_quotes(a),
                            in_quotes(b)));
  }

  /// The id of a symbol that `stated` or else `usual` names.
  WordId symbol(const JsonPart& model, const std::string& stated, std::string_view usual,
                std::string_view what) const {
    const std::string_view wanted = stated.empty() ? usual : std::string_view(stated);
    std::optional<WordId> id = added_.find(wanted);
    if (!id)
      if (const auto token = token_ids_.find(wanted); token != token_ids_.end()) id = token->second;
    if (!id) id = pieces_.find(wanted);
    if (!id)
      model.refuse(fmt::format("the vocabulary has no {} symbol {}", what, in_quotes(wanted)));
    return *id;
  }

  void make_model(const JsonPart& model, std::vector<double> scores, const MergeList& merges) {
    end_id_ = symbol(model, options_.end, kEndToken, "end");
    // The files of the oldest versions do not tell it.
    const std::string type = model.text("type", scores.empty() ? "BPE" : "Unigram");
    if (type == "Unigram")
      make_unigram(model, std::move(scores));
    else if (type == "BPE")
      make_byte_pairs(model, scores.empty(), merges);
    else
      model.refuse(
          fmt::format("the model {} is not supported; Unigram and BPE are", in_quotes(type)));
  }

  void make_unigram(const JsonPart& model, std::vector<double> scores) {
    if (scores.size() != pieces_.entries().size() || scores.empty())
      model.refuse("'vocab' is not a list of pieces with scores");
    const bool has_unknown = model.has("unk_id");
    const std::size_t unknown = model.count("unk_id", 0);
    if (has_unknown && unknown >= scores.size())
      model.refuse(fmt::format("'unk_id' is {}, but there are {} pieces", unknown, scores.size()));
    unknown_id_ = has_unknown && options_.unknown.empty()
                      ? static_cast<WordId>(unknown)
                      : symbol(model, options_.unknown, kUnknownToken, "unknown");
    model_ = std::make_unique<UnigramModel>(
        pieces_, std::move(scores), has_unknown ? static_cast<WordId>(unknown) : unknown_id_,
        model.truth("byte_fallback", false));
  }

  void make_byte_pairs(const JsonPart& model, bool has_ids, const MergeList& merges) {
    if (!has_ids) model.refuse("'vocab' is not a mapping of pieces to ids");
    for (const char* affix : {"continuing_subword_prefix", "end_of_word_suffix"})
      if (!model.text(affix).empty())
        model.refuse(
            fmt::format("'{}' is not supported, but is {}", affix, in_quotes(model.text(affix))));
    const std::string unknown = model.text("unk_token");
    unknown_id_ = symbol(model, options_.unknown.empty() ? unknown : options_.unknown,
                         kUnknownToken, "unknown");
    const BytePairOptions options{
        .unknown = unknown.empty() ? -1 : symbol(model, unknown, kUnknownToken, "unknown"),
        .joins_unknown = model.truth("fuse_unk", false),
        .spells_unknown = model.truth("byte_fallback", false),
        .keeps_pieces = model.truth("ignore_merges", false)};
    model_ = std::make_unique<BytePairModel>(pieces_, merges_of(model, merges, pieces_), options);
  }

  void find_control_ids() {
    for (const WordEntry& entry : pieces_.entries()) {
      if (entry.id >= words_ || entry.id == unknown_id_ || entry.id == end_id_) continue;
      const std::optional<char> byte = byte_of_piece(entry.word);
      const bool is_control = writes_bytes_
                                  ? holds_control_byte(written_bytes(entry.word).value_or(""))
                                  : byte && holds_control_byte({&*byte, 1});
      if (is_control) control_ids_.push_back(entry.id);
    }
  }

  /// Calls `action` with each token of a line and the part that it is in.
  template <typename Action>
  void for_each_token(std::string_view line, Action action) const {
    std::vector<Token> tokens;
    for (AddedTokens::Part& part : tokens_->split(AlignedText(with_replaced_errors(line)))) {
      if (part.token) {
        action(part.text, Token{*part.token, {0, part.text.text().size()}});
        continue;
      }
      for (const AlignedText& text : fuselage::split(pre_tokenizers_, std::move(part.text))) {
        tokens.clear();
        model_->split(text.text(), tokens);
        for (const Token& token : tokens) action(text, token);
      }
    }
  }

  /// Appends the text of a token, unless it has none or is special.
  void add_part(WordId id, std::vector<DecodedPart>& parts) const {
    if (id < 0 || id >= words_) return;
    const std::string* token = tokens_->decoded_text(id);
    const std::string_view text = token ? std::string_view(*token) : pieces_.text(id);
    if (!text.empty() && !tokens_->is_special(text)) parts.push_back({std::string(text)});
  }

  VocabularyOptions options_;
  TextNormalizers normalizers_;
  PreTokenizers pre_tokenizers_;
  TokenDecoders decoders_;
  PieceTable pieces_;
  std::unique_ptr<const AddedTokens> tokens_;
  std::unordered_map<WordId, std::size_t> token_index_;     ///< by id
  std::unordered_map<std::string_view, WordId> token_ids_;  ///< by content
  std::unique_ptr<const TokenModel> model_;
  bool writes_bytes_ = false;
  WordId words_ = 0;  ///< ids below may have a word
};

}  // namespace

std::unique_ptr<const Vocabulary> parse_tokenizer_vocabulary(std::string_view bytes,
                                                             const std::string& name,
                                                             const VocabularyOptions& options) {
  return std::make_unique<TokenizerVocabulary>(read_tokenizer_file(bytes, name), name, options);
}

}  // namespace fuselage
