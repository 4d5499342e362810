#include "text/pages/markup.h"

#include <algorithm>
#include <functional>
#include <string>
#include <utility>

#include "text/pages/markup_ranges.h"
#include "text/unicode.h"
#include "text/word_boundaries.h"

namespace fuselage {
namespace {

constexpr std::size_t kNoParent = Markup::kNone;

/// The kind of a character beside markup; 0: there is none.
Markup::Beside beside(char32_t code) {
  if (code == 0 || is_unicode_space(code)) return Markup::Beside::space;
  std::string character;
  append_utf8(code, character);
  if (begins_with_letter(character)) return Markup::Beside::letter;
  return is_unicode_letter(code) ? Markup::Beside::unspaced_letter : Markup::Beside::sign;
}

bool is_opening_sign(char32_t code) {
  constexpr std::u32string_view kQuotes = U"„‚«‹¿¡";
  return is_opening_bracket(code) || kQuotes.find(code) != std::u32string_view::npos;
}

bool is_closing_sign(char32_t code) {
  constexpr std::u32string_view kSigns = U".,;:!?…%\"'";
  return kSigns.find(code) != std::u32string_view::npos || is_unicode_quote(code) ||
         (is_unicode_bracket(code) && !is_opening_bracket(code));
}

/// Places the markup of one sentence.
class MarkupPlacer {
 public:
  MarkupPlacer(std::span<const Markup> markup, std::string_view translation,
               const AlignedWords& words)
      : markup_(markup), translation_(translation), words_(words), parts_(markup.size()) {}

  std::vector<PlacedMarkup> run() {
    find_parts();
    place_sentence();
    // Parents come before their elements.
    for (std::size_t i = 0; i < markup_.size(); ++i)
      if (is_element(i)) place_within(parts_[i].children, parts_[i].source, parts_[i].target);
    write();
    return std::move(placed_);
  }

 private:
  /// An opening tag with its element, or another piece of markup but the closing tags of elements.
  struct Part {
    WordRange source, target;
    std::vector<std::size_t> children = {};
    bool at_parents_end = false;
  };

  bool is_element(std::size_t i) const {
    return markup_[i].kind == Markup::Kind::opening && markup_[i].partner != Markup::kNone;
  }
  bool ends_element(std::size_t i) const {
    return markup_[i].kind == Markup::Kind::closing && markup_[i].partner != Markup::kNone;
  }
  bool is_lone_tag(std::size_t i) const {
    return markup_[i].kind != Markup::Kind::point && markup_[i].partner == Markup::kNone;
  }

  void find_parts() {
    std::vector<std::size_t> open;
    for (std::size_t i = 0; i < markup_.size(); ++i) {
      if (ends_element(i)) {
        open.pop_back();
        continue;
      }
      Part& part = parts_[i];
      part.source.begin = part.source.end = words_.source_word(markup_[i].at);
      (open.empty() ? top_ : parts_[open.back()].children).push_back(i);
      if (!is_element(i)) continue;
      part.source.end = words_.source_word(markup_[markup_[i].partner].at);
      open.push_back(i);
    }
  }

  /// Tags without partners divide the sentence: their elements go on in other sentences.
  void place_sentence() {
    WordRange source{0, words_.source().size()}, target{0, words_.target().size()};
    std::vector<std::size_t> within;
    const auto end_zone = [&](std::size_t source_end, std::size_t target_end) {
      place_within(within, {source.begin, source_end}, {target.begin, target_end});
      ordered_.insert(ordered_.end(), within.begin(), within.end());
      within.clear();
      source.begin = source_end;
      target.begin = target_end;
    };
    for (const std::size_t i : top_) {
      if (!is_lone_tag(i)) {
        within.push_back(i);
        continue;
      }
      const std::size_t word = std::max(parts_[i].source.begin, source.begin);
      const bool closes = markup_[i].kind == Markup::Kind::closing;
      const std::size_t place = MarkupRanges(words_, source, target).place(word, closes);
      end_zone(word, place);
      parts_[i].target = {place, place};
      ordered_.push_back(i);
    }
    end_zone(source.end, target.end);
  }

  /// Gives the parts of an element their places in it, and puts them into the order of these.
  void place_within(std::vector<std::size_t>& children, WordRange source, WordRange target) {
    if (children.empty()) return;
    MarkupRanges ranges(words_, source, target);
    std::vector<std::size_t> elements;
    for (const std::size_t i : children)
      if (!parts_[i].source.empty()) elements.push_back(i);
    std::ranges::stable_sort(elements, std::greater(),
                             [this](std::size_t i) { return parts_[i].source.size(); });
    for (const std::size_t i : elements)
      parts_[i].target = ranges.take(parts_[i].source).value_or(WordRange{});
    for (const std::size_t i : children) {
      WordRange& range = parts_[i].target;
      if (range.empty()) range.begin = range.end = ranges.place(parts_[i].source.begin);
      parts_[i].at_parents_end = range.begin == target.end;
    }
    std::ranges::stable_sort(children, {}, [this](std::size_t i) {
      return std::pair(parts_[i].target.begin, !parts_[i].target.empty());
    });
  }

  /// Writes all parts, each within its parent.
  void write() {
    struct Level {
      const std::vector<std::size_t>* parts;
      std::size_t next;
      std::size_t parent;
    };
    std::vector<Level> levels = {{&ordered_, 0, kNoParent}};
    while (!levels.empty()) {
      Level& level = levels.back();
      if (level.next == level.parts->size()) {
        if (level.parent != kNoParent) add(markup_[level.parent].partner, end_of(level.parent));
        levels.pop_back();
        continue;
      }
      const std::size_t i = (*level.parts)[level.next++];
      write_beginning(i, level.parent);
      if (is_element(i)) levels.push_back({&parts_[i].children, 0, i});
    }
  }

  void write_beginning(std::size_t i, std::size_t parent) {
    const Markup& markup = markup_[i];
    const bool attached =
        markup.kind == Markup::Kind::closing ||
        (markup.kind == Markup::Kind::point && markup.before != Markup::Beside::space);
    const WordRange& range = parts_[i].target;
    if (!range.empty()) return add(i, begin_of_word(range.begin));
    const bool at_parents_end = parent != kNoParent && parts_[i].at_parents_end;
    add(i, attached || at_parents_end ? end_before(range.begin) : begin_of_word(range.begin));
    if (markup.is_word) separate(placed_.back());
  }

  /// Adds spaces around a point that is a word, where there is a word, or a sign that does not
  /// belong to it.
  void separate(PlacedMarkup& placed) const {
    const Markup& markup = markup_[placed.markup];
    const auto needs_space = [](Markup::Beside is, Markup::Beside was, bool belongs) {
      if (is == Markup::Beside::letter) return was != Markup::Beside::letter;
      return is == Markup::Beside::sign && was == Markup::Beside::space && !belongs;
    };
    const char32_t before = last_character(translation_.substr(0, placed.at)).code,
                   behind = leading_character(translation_.substr(placed.at)).code;
    Markup::Beside is_before = beside(before);
    // Several points may be at one place, and tags between them.
    for (auto last = placed_.rbegin() + 1; last != placed_.rend() && last->at == placed.at; ++last)
      if (markup_[last->markup].is_word) {
        is_before = last->space_behind ? Markup::Beside::space : Markup::Beside::letter;
        break;
      }
    placed.space_before = needs_space(is_before, markup.before, is_opening_sign(before));
    placed.space_behind = needs_space(beside(behind), markup.behind, is_closing_sign(behind));
  }

  std::size_t begin_of_word(std::size_t word) const {
    return word < words_.target().size() ? words_.target()[word].begin : translation_.size();
  }
  std::size_t end_before(std::size_t word) const {
    return word > 0 ? words_.target()[word - 1].end : 0;
  }
  std::size_t end_of(std::size_t element) const {
    const WordRange& range = parts_[element].target;
    return range.empty() ? 0 : end_before(range.end);
  }

  void add(std::size_t i, std::size_t at) {
    if (!placed_.empty()) at = std::max(at, placed_.back().at);
    placed_.push_back({.markup = i, .at = at});
  }

  std::span<const Markup> markup_;
  std::string_view translation_;
  const AlignedWords& words_;
  std::vector<Part> parts_;           ///< by the index of their markup
  std::vector<std::size_t> top_;      ///< the parts outside elements, in the order of the sentence
  std::vector<std::size_t> ordered_;  ///< the same in the order of the translation
  std::vector<PlacedMarkup> placed_;
};

}  // namespace

Markup::Beside beside_end(std::string_view text) { return beside(last_character(text).code); }

Markup::Beside beside_beginning(std::string_view text) {
  return beside(leading_character(text).code);
}

std::vector<PlacedMarkup> placed_markup(std::span<const Markup> markup, std::string_view sentence,
                                        std::string_view translation,
                                        const TextAlignment& alignment) {
  std::vector<std::size_t> places;
  for (const Markup& each : markup) places.push_back(each.at);
  const AlignedWords words(sentence, places, translation, alignment);
  return MarkupPlacer(markup, translation, words).run();
}

}  // namespace fuselage
