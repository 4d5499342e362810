#include "text/placeholders/placeholders.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <utility>

#include "base/suggest.h"
#include "fuselage/base/error.h"
#include "text/unicode.h"
#include "text/utf8.h"

namespace fuselage {
namespace {

bool is_letter(char32_t code) { return is_unicode_letter(code) || is_combining_mark(code); }

Placeholder::Beside beside(char32_t code) {
  if (code == U'–' || code == U'‒') return Placeholder::Beside::en_dash;
  if (code == U'—' || code == U'―') return Placeholder::Beside::em_dash;
  if (is_unicode_number(code)) return Placeholder::Beside::number;
  return is_letter(code) ? Placeholder::Beside::letter : Placeholder::Beside::other;
}

/// What is beside a part of a text.
struct Sides {
  Placeholder::Beside left, right;
};

Sides sides_of(std::string_view text, TextSpan part) {
  return {beside(last_character(text.substr(0, part.begin)).code),
          beside(leading_character(text.substr(part.end)).code)};
}

/// A word with a space on each side that a letter, number or dash is beside.
std::string spaced(std::string_view word, Sides sides) {
  const auto space = [](Placeholder::Beside side) {
    return side == Placeholder::Beside::other ? "" : " ";
  };
  return fmt::format("{}{}{}", space(sides.left), word, space(sides.right));
}

/// Whether a placeholder in the place of a part comes back with the same spaces.
bool gives_back(std::string_view text, TextSpan part, const Placeholder& made) {
  const Sides sides = sides_of(text, part);
  const std::string_view before = text.substr(0, part.begin), behind = text.substr(part.end);
  // What is beside a space that would be taken.
  auto left = Placeholder::Beside::other, right = Placeholder::Beside::other;
  if (before.ends_with(' '))
    left = beside(last_character(before.substr(0, before.size() - 1)).code);
  if (behind.starts_with(' ')) right = beside(leading_character(behind.substr(1)).code);
  const auto fits = [](Placeholder::Beside is, Placeholder::Beside was, Placeholder::Beside next) {
    if (is != Placeholder::Beside::other) return is == was;
    return was == Placeholder::Beside::other || was != next;
  };
  return fits(sides.left, made.left, left) && fits(sides.right, made.right, right);
}

/// In the scripts of other languages, particles may be beside a placeholder without a space.
bool is_latin_letter(char32_t code) {
  return is_letter(code) && (code < 0x370 || (code >= 0x1E00 && code < 0x1F00));
}

/// The bytes of the letters at the beginning of a text that may be an ending: "XYZs", "XYZnak";
/// nothing: there are more.
std::optional<std::size_t> ending_of(std::string_view text) {
  constexpr int kMostOfEnding = 3;
  std::size_t bytes = 0;
  for (int letters = 0; is_latin_letter(leading_character(text.substr(bytes)).code); ++letters) {
    if (letters == kMostOfEnding) return std::nullopt;
    bytes += first_character(text.substr(bytes)).length;
  }
  return bytes;
}

/// The placeholder whose word begins a text; null: there is none.
const Placeholder* beginning(std::string_view text, std::span<const Placeholder> used) {
  const auto found = std::ranges::find_if(
      used, [&](const Placeholder& each) { return text.starts_with(each.word); });
  return found == used.end() ? nullptr : &*found;
}

/// A placeholder in a translation.
struct Found {
  const Placeholder* placeholder = nullptr;  ///< null: there is none
  std::size_t bytes = 0;                     ///< with an ending that it cannot have
};

/// The placeholder at a place of a translation, behind the end of the last one.
Found placeholder_at(std::string_view translation, std::size_t at, std::size_t last_end,
                     std::span<const Placeholder> used) {
  const Placeholder* found = beginning(translation.substr(at), used);
  if (!found) return {};
  if (at > last_end && found->left != Placeholder::Beside::letter &&
      is_latin_letter(last_character(translation.substr(0, at)).code))
    return {};
  std::string_view behind = translation.substr(at + found->word.size());
  if (beginning(behind, used)) return {found, found->word.size()};
  const std::optional<std::size_t> ending = ending_of(behind);
  if (!ending) return {};
  const bool has_ending = is_letter(last_character(found->text).code);
  return {found, found->word.size() + (has_ending ? 0 : *ending)};
}

/// How terms meet a part of a line. Those within it do not count.
struct TermsOfPart {
  const LineContext::Term* whole = nullptr;  ///< the part is this term
  bool overlap = false;                      ///< a term goes beyond the part
};

TermsOfPart terms_of(TextSpan part, std::span<const LineContext::Term> terms) {
  TermsOfPart found;
  const auto end_of = [](const LineContext::Term& term) { return term.place.end; };
  for (auto term = std::ranges::upper_bound(terms, part.begin, {}, end_of);
       term != terms.end() && term->place.begin < part.end; ++term) {
    if (term->place == part) found.whole = &*term;
    found.overlap = term->place.begin < part.begin || term->place.end > part.end;
    if (found.overlap) break;
  }
  return found;
}

}  // namespace

Placeholders::Placeholders(const Vocabulary& vocabulary, std::vector<std::string> words)
    : vocabulary_(vocabulary), parts_(vocabulary), words_(std::move(words)) {
  for (const std::string& word : words_) {
    if (!is_valid_utf8(word))
      throw Error(fmt::format("the placeholder {} is not valid UTF-8", in_quotes(word)));
    if (word.empty() || tokens_of(word) != std::vector<TextSpan>{{0, word.size()}})
      throw Error(fmt::format("the placeholder {} must be a word", in_quotes(word)));
    if (std::ranges::count(vocabulary.encode(word), vocabulary.unknown_id()) > 0)
      throw Error(
          fmt::format("the placeholder {} is unknown to the model's vocabulary; name "
                      "another word",
                      in_quotes(word)));
    if (!parts_.of_token(word, {0, word.size()}).empty())
      throw Error(fmt::format(
          "the model's vocabulary spells the placeholder {} in bytes; name another word",
          in_quotes(word)));
    for (const std::string& other : words_)
      if (&other != &word && other.starts_with(word))
        throw Error(fmt::format("the placeholder {} begins the placeholder {}; name another word",
                                in_quotes(word), in_quotes(other)));
  }
}

/// The words that are neither in a line nor in its context, also as the vocabulary reads these.
std::vector<std::string> Placeholders::free_words(std::string_view line,
                                                  const LineContext& context) const {
  const std::string texts = fmt::format("{}\n{}", line, context.translation);
  const std::string read = vocabulary_.normalized(texts);
  std::vector<std::string> free;
  for (const std::string& word : words_) {
    const std::string normalized = vocabulary_.normalized(word);
    const std::string_view as_read =
        without_outer_space(normalized, {0, normalized.size()}).of(normalized);
    if (texts.find(word) == std::string::npos && read.find(as_read) == std::string::npos)
      free.push_back(word);
  }
  return free;
}

Placeholders::Line Placeholders::put_into(std::string_view line, std::span<const WordId> words,
                                          const LineContext& context) const {
  Line result;
  std::vector<std::string> free;
  if (parts_.may_be_in(line, words)) free = free_words(line, context);
  auto word = free.begin();
  std::size_t at = 0;
  const auto put = [&](TextSpan part) {
    if (word == free.end()) return;
    const auto [term, overlap] = terms_of(part, context.terms);
    if (overlap) return;
    const Sides sides = sides_of(line, part);
    result.text.keep(line.substr(at, part.begin - at));
    result.text.replace(part.size(), spaced(*word, sides));
    at = part.end;
    Placeholder& made = result.used.emplace_back(
        Placeholder{.word = *word++, .text = std::string(part.of(line)), .place = part});
    if (term) {
      made.text = term->translation;
    } else {
      made.left = sides.left;
      made.right = sides.right;
    }
  };
  if (!free.empty())
    for (const TextSpan token : tokens_of(line)) {
      for (const TextSpan part : parts_.of_token(line, token)) put(part);
      if (word == free.end()) break;
    }
  result.text.keep(line.substr(at));
  return result;
}

ReplacedText without_placeholders(std::string_view translation, std::span<const Placeholder> used) {
  ReplacedText result;
  std::size_t last_end = 0;  // of the last placeholder
  for (std::size_t at = 0; at < translation.size();) {
    const auto [found, bytes] = placeholder_at(translation, at, last_end, used);
    if (!found) {
      result.keep(translation.substr(at++, 1));
      continue;
    }
    // A space that was put in between is left out again, where the like is still beside it.
    const std::string_view before = translation.substr(last_end, at - last_end);
    const std::string_view behind = translation.substr(at + bytes);
    if (found->left != Placeholder::Beside::other && before.ends_with(' ') &&
        beside(last_character(before.substr(0, before.size() - 1)).code) == found->left)
      result.drop_last();
    const bool takes_space = found->right != Placeholder::Beside::other &&
                             behind.starts_with(' ') &&
                             beside(leading_character(behind.substr(1)).code) == found->right;
    const std::size_t size = bytes + (takes_space ? 1 : 0);
    result.replace(size, found->text);
    last_end = at += size;
  }
  return result;
}

std::string with_placeholders(std::string_view translation, std::span<const Placeholder> used) {
  constexpr std::size_t kLongText = 1000;  // bytes: each is looked for at each place
  std::string result;
  std::vector<bool> taken(used.size());
  for (std::size_t at = 0; at < translation.size();) {
    const auto part_of = [&](std::size_t i) { return TextSpan{at, at + used[i].text.size()}; };
    const auto fits = [&](std::size_t i) {
      const std::size_t size = used[i].text.size();
      return size > 0 && size <= kLongText && translation.substr(at).starts_with(used[i].text) &&
             gives_back(translation, part_of(i), used[i]);
    };
    // The longest text, and of its placeholders one that is not there yet.
    std::optional<std::size_t> best;
    const auto rank = [&](std::size_t i) { return std::pair(used[i].text.size(), !taken[i]); };
    for (std::size_t i = 0; i < used.size(); ++i)
      if (fits(i) && (!best || rank(i) > rank(*best))) best = i;
    if (!best) {
      result += translation[at++];
      continue;
    }
    taken[*best] = true;
    result += spaced(used[*best].word, sides_of(translation, part_of(*best)));
    at = part_of(*best).end;
  }
  return without_placeholders(result, used).text() == translation ? result
                                                                  : std::string(translation);
}

}  // namespace fuselage
