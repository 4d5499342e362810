#include "text/pages/html/reader.h"

#include <algorithm>
#include <utility>

#include "text/pages/html/character_references.h"
#include "text/pages/html/elements.h"
#include "text/unicode.h"

namespace fuselage {
namespace {

bool is_separate(const HtmlToken& token) {
  return token.kind == HtmlToken::Kind::start_tag &&
         (token.self_closing || is_void_element(token.name));
}

}  // namespace

bool HtmlReader::next(HtmlText& text) {
  begin_text(text);
  const auto is_done = [&text] { return !text.text.empty(); };
  for (;;) {
    if (!rest_.empty() && read_text(text)) {
      if (is_done()) return true;
      begin_text(text);
      continue;
    }
    HtmlToken token;
    if (pending_)
      token = *std::exchange(pending_, std::nullopt);
    else if (!tokens_.next(token))
      break;
    if (!follow(token, text)) continue;
    if (is_done()) return true;
    begin_text(text);
  }
  if (untranslated_ && !untranslated_block_) {
    untranslated_tag_.span.end = document_.size();
    add_markup(Markup::Kind::point, untranslated_tag_, text);
  }
  untranslated_.reset();
  return is_done();
}

void HtmlReader::begin_text(HtmlText& text) {
  text = {};
  open_tags_.clear();
  // clear() takes the time of the largest text before.
  open_names_ = std::unordered_map<std::string, std::size_t>();
  word_ends_ = false;
}

/// Whether the text ends at the token.
bool HtmlReader::follow(const HtmlToken& token, HtmlText& text) {
  if (untranslated_) return follow_untranslated(token, text);
  switch (token.kind) {
    case HtmlToken::Kind::text:
      rest_ = token.span;
      return false;
    case HtmlToken::Kind::raw:
    case HtmlToken::Kind::other:
      add_markup(Markup::Kind::point, token, text);
      return false;
    case HtmlToken::Kind::start_tag:
    case HtmlToken::Kind::end_tag:
      break;
  }
  return follow_tag(token, text);
}

bool HtmlReader::follow_tag(const HtmlToken& token, HtmlText& text) {
  const bool block = is_block_element(token.name);
  const bool starts = token.kind == HtmlToken::Kind::start_tag;
  const bool separate = is_separate(token);
  const bool translated = !token.forbids_translation &&
                          (token.allows_translation || !is_untranslated_element(token.name));
  if (starts && !separate && !translated) {
    untranslated_.emplace(token.name, open_);
    untranslated_tag_ = token;
    untranslated_block_ = block;
    return block;
  }
  if (!separate) open_.follow(token);
  if (block) return true;
  add_markup(separate ? Markup::Kind::point
             : starts ? Markup::Kind::opening
                      : Markup::Kind::closing,
             token, text);
  return false;
}

bool HtmlReader::follow_untranslated(const HtmlToken& token, HtmlText& text) {
  const UntranslatedElement::Place place = untranslated_->follow(token);
  if (place == UntranslatedElement::Place::inside) return false;
  const bool behind = place == UntranslatedElement::Place::behind;
  if (behind) pending_ = token;
  untranslated_.reset();
  if (untranslated_block_) return true;
  untranslated_tag_.span.end = behind ? token.span.begin : token.span.end;
  add_markup(Markup::Kind::point, untranslated_tag_, text);
  return false;
}

/// Reads the rest of a text token; whether the text ends in it, at a line break of preformatted
/// text.
bool HtmlReader::read_text(HtmlText& text) {
  static const std::string preformatted = "pre";
  const bool lines = open_.count(preformatted) > 0;
  while (!rest_.empty()) {
    const std::string_view rest = rest_.of(document_);
    const std::size_t plain = std::min(rest.find_first_of(lines ? "&\n" : "&"), rest.size());
    if (plain > 0) add_characters(rest.substr(0, plain), {rest_.begin, rest_.begin + plain}, text);
    rest_.begin += plain;
    if (rest_.empty()) break;
    if (rest[plain] == '\n') {
      ++rest_.begin;
      return true;
    }
    const CharacterReference reference = character_reference(rest.substr(plain));
    read_reference(reference.length, reference.code, text);
  }
  return false;
}

/// Reads a character reference of `length` bytes at the beginning of the rest.
void HtmlReader::read_reference(std::size_t length, char32_t code, HtmlText& text) {
  const TextSpan span{rest_.begin, rest_.begin + std::max<std::size_t>(length, 1)};
  rest_.begin = span.end;
  if (length > 0 && code == 0) {
    add_markup(Markup::Kind::point, {.kind = HtmlToken::Kind::other, .span = span}, text);
    return;
  }
  std::string character = "&";
  if (length > 0) {
    character.clear();
    append_utf8(code, character);
  }
  add_characters(character, span, text);
}

void HtmlReader::add_characters(std::string_view characters, TextSpan source, HtmlText& text) {
  const Markup::Beside behind = beside_beginning(characters);
  if (std::exchange(word_ends_, false) && beside_end(text.text) == Markup::Beside::letter &&
      behind == Markup::Beside::letter) {
    text.text += ' ';
    text.map.add(1, {source.begin, source.begin});
  }
  for (auto markup = text.markup.rbegin();
       markup != text.markup.rend() && markup->at == text.text.size(); ++markup)
    markup->behind = behind;
  text.text += characters;
  text.map.add(characters.size(), source);
}

void HtmlReader::add_markup(Markup::Kind kind, const HtmlToken& token, HtmlText& text) {
  const bool word =
      is_word_element(token.name) ||
      (kind == Markup::Kind::point && token.forbids_translation && !is_separate(token));
  word_ends_ |= word;
  text.markup.push_back({.kind = kind,
                         .at = text.text.size(),
                         .source = token.span,
                         .before = beside_end(text.text),
                         .is_word = word && kind == Markup::Kind::point});
  if (kind == Markup::Kind::opening) {
    open_tags_.push_back({token.name, text.markup.size() - 1});
    ++open_names_[token.name];
  } else if (kind == Markup::Kind::closing) {
    match(token.name, text);
  }
}

/// Finds the opening tag of the last markup, which closes `name`. Tags that were opened behind it
/// stay without a partner.
void HtmlReader::match(const std::string& name, HtmlText& text) {
  if (open_names_[name] == 0) return;
  for (;;) {
    const OpenTag tag = std::move(open_tags_.back());
    open_tags_.pop_back();
    --open_names_[tag.name];
    if (tag.name != name) continue;
    text.markup[tag.markup].partner = text.markup.size() - 1;
    text.markup.back().partner = tag.markup;
    return;
  }
}

}  // namespace fuselage
