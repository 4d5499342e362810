#include <algorithm>

#include "fuselage/base/error.h"
#include "text/pages/html/character_references.h"
#include "text/pages/html/reader.h"
#include "text/pages/markup.h"
#include "text/pages/page.h"
#include "text/pages/readable_text.h"

namespace fuselage {
namespace {

class HtmlPage : public Page {
 public:
  HtmlPage(std::string document, const PageReading& reading) : Page(std::move(document)) {
    HtmlReader reader(document_);
    for (HtmlText text; reader.next(text);) add_sentences(text, reading);
  }

  TextSpan place(std::size_t sentence) const override { return places_.at(sentence).source; }

  bool has_markup(std::size_t sentence) const override {
    return !places_.at(sentence).markup.empty();
  }

  std::string joined(std::span<const TranslatedSentence> translations) const override {
    check(translations.size() == places_.size(), "a translation for each sentence");
    std::string result;
    std::size_t at = 0;
    for (std::size_t i = 0; i < places_.size(); ++i) {
      const TextSpan& source = places_[i].source;
      result.append(document_, at, source.begin - at);
      at = source.end;
      if (translations[i].text == sentences_[i])
        result += source.of(document_);
      else
        write(i, translations[i], result);
    }
    return result.append(document_, at);
  }

 private:
  /// A sentence in the document.
  struct Place {
    TextSpan source;
    std::vector<Markup> markup;  ///< Markup::at in the sentence
  };

  void add_sentences(const HtmlText& text, const PageReading& reading) {
    std::size_t next = 0;
    for (const TextSpan& span : sentences_of(text.text, reading)) add_sentence(text, span, next);
  }

  /// Adds a sentence with the markup inside it. Markup around it stays where it is, but for
  /// elements that hold a part of the sentence only. Markup before `next` is of other sentences.
  void add_sentence(const HtmlText& text, TextSpan span, std::size_t& next) {
    const std::vector<Markup>& all = text.markup;
    const auto is_inside = [&](std::size_t at) { return at > span.begin && at < span.end; };
    const auto has_part = [&](const Markup& markup, Markup::Kind kind) {
      return markup.kind == kind && markup.partner != Markup::kNone &&
             is_inside(all[markup.partner].at);
    };
    std::size_t first = next;
    while (first < all.size() &&
           (all[first].at < span.begin ||
            (all[first].at == span.begin && !has_part(all[first], Markup::Kind::opening))))
      ++first;
    std::size_t last = first;
    std::size_t end = first;
    for (; last < all.size() && all[last].at <= span.end; ++last)
      if (all[last].at < span.end || has_part(all[last], Markup::Kind::closing)) end = last + 1;
    next = end;
    std::vector<std::size_t> places;
    for (std::size_t i = first; i < end; ++i) places.push_back(all[i].at - span.begin);
    ReadableText readable = readable_text(span.of(text.text), places);
    Place place{.source = {text.map.begin_of(span.begin), text.map.end_of(span.end)}};
    for (std::size_t i = first; i < end; ++i) {
      Markup markup = all[i];
      markup.at = readable.places[i - first];
      const bool paired = markup.partner >= first && markup.partner < end;
      markup.partner = paired ? markup.partner - first : Markup::kNone;
      place.source.begin = std::min(place.source.begin, markup.source.begin);
      place.source.end = std::max(place.source.end, markup.source.end);
      place.markup.push_back(markup);
    }
    sentences_.push_back(std::move(readable.text));
    places_.push_back(std::move(place));
  }

  void write(std::size_t i, const TranslatedSentence& translation, std::string& result) const {
    const std::string_view text = translation.text;
    std::size_t at = 0;
    const Place& place = places_[i];
    if (!place.markup.empty())
      for (const PlacedMarkup& placed :
           placed_markup(place.markup, sentences_[i], text, translation.alignment)) {
        append_html(text.substr(at, placed.at - at), result);
        at = placed.at;
        if (placed.space_before) result += ' ';
        result += place.markup[placed.markup].source.of(document_);
        if (placed.space_behind) result += ' ';
      }
    append_html(text.substr(at), result);
  }

  std::vector<Place> places_;  ///< of the sentences
};

}  // namespace

std::unique_ptr<const Page> read_html_page(std::string text, const PageReading& reading) {
  return std::make_unique<HtmlPage>(std::move(text), reading);
}

}  // namespace fuselage
