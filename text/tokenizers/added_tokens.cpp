#include "text/tokenizers/added_tokens.h"

#include <algorithm>
#include <string_view>
#include <utility>

#include "text/unicode.h"

namespace fuselage {
namespace {

bool is_within_word(std::string_view text, TextRange range) {
  const std::string_view before = text.substr(0, range.begin), behind = text.substr(range.end);
  return (!before.empty() && is_word_character(last_character(before).code)) ||
         (!behind.empty() && is_word_character(first_character(behind).code));
}

/// The beginning of the spaces before `at`, but not before `least`.
std::size_t begin_of_spaces(std::string_view text, std::size_t at, std::size_t least) {
  while (at > least) {
    const Character last = last_character(text.substr(0, at));
    if (!is_unicode_space(last.code)) break;
    at -= last.length;
  }
  return at;
}

std::size_t end_of_spaces_at(std::string_view text, std::size_t at) {
  while (at < text.size()) {
    const Character character = first_character(text.substr(at));
    if (!is_unicode_space(character.code)) break;
    at += character.length;
  }
  return at;
}

}  // namespace

AddedTokens::AddedTokens(std::vector<AddedToken> tokens, const TextNormalizers& normalizers)
    : tokens_(std::move(tokens)), normalizers_(normalizers) {
  std::vector<std::pair<std::string_view, PieceTrie::Value>> plain, normalized;
  std::vector<std::string> forms(tokens_.size());
  for (std::size_t i = 0; i < tokens_.size(); ++i) {
    const AddedToken& token = tokens_[i];
    if (token.special) special_.insert(token.content);
    AlignedText form(token.content);
    if (token.normalized) apply(normalizers, form);
    forms[i] = form.text();
    decoded_texts_.insert_or_assign(token.id, forms[i]);
    (token.normalized ? normalized : plain)
        .emplace_back(forms[i], static_cast<PieceTrie::Value>(i));
  }
  plain_ = PieceTrie(std::move(plain));
  normalized_ = PieceTrie(std::move(normalized));
}

std::vector<AddedTokens::Part> AddedTokens::split(const AlignedText& line) const {
  std::vector<Part> plain, parts;
  split(line, plain_, plain);
  for (Part& part : plain) {
    if (part.token) {
      parts.push_back(std::move(part));
    } else {
      apply(normalizers_, part.text);
      split(part.text, normalized_, parts);
    }
  }
  return parts;
}

void AddedTokens::split(const AlignedText& text, const PieceTrie& trie,
                        std::vector<Part>& parts) const {
  const std::string_view whole = text.text();
  std::size_t finished = 0;
  for (std::size_t at = 0; at < whole.size();) {
    std::size_t length = 0;
    PieceTrie::Value found = 0;
    trie.for_each_prefix(whole.substr(at), [&](std::size_t bytes, PieceTrie::Value value) {
      length = bytes;
      found = value;
    });
    if (length == 0) {
      ++at;
      continue;
    }
    TextRange range{at, at + length};
    at += length;
    const AddedToken& token = tokens_[static_cast<std::size_t>(found)];
    if (token.single_word && is_within_word(whole, range)) continue;
    if (token.left_strip)
      range.begin = std::max(begin_of_spaces(whole, range.begin, finished), finished);
    if (token.right_strip) range.end = end_of_spaces_at(whole, range.end);
    if (finished < range.begin) parts.push_back({text.slice({finished, range.begin}), {}});
    if (range.begin < range.end) parts.push_back({text.slice(range), token.id});
    finished = range.end;
  }
  if (finished < whole.size()) parts.push_back({text.slice({finished, whole.size()}), {}});
}

const std::string* AddedTokens::decoded_text(WordId id) const {
  const auto found = decoded_texts_.find(id);
  return found == decoded_texts_.end() ? nullptr : &found->second;
}

}  // namespace fuselage
