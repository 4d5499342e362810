#include "text/pages/html/tokenizer.h"

#include <algorithm>

#include "text/pages/html/elements.h"

namespace fuselage {
namespace {

constexpr auto kNone = std::string_view::npos;
constexpr std::string_view kSpaces = "\t\n\f\r ";

bool is_ascii_letter(char byte) {
  return (byte >= 'a' && byte <= 'z') || (byte >= 'A' && byte <= 'Z');
}

char small_letter(char byte) {
  return byte >= 'A' && byte <= 'Z' ? static_cast<char>(byte - 'A' + 'a') : byte;
}

std::string in_small_letters(std::string_view text) {
  std::string result(text);
  std::ranges::transform(result, result.begin(), small_letter);
  return result;
}

/// Whether a text begins with `name`, which is in small letters.
bool begins_with(std::string_view text, std::string_view name) {
  if (text.size() < name.size()) return false;
  for (std::size_t i = 0; i < name.size(); ++i)
    if (small_letter(text[i]) != name[i]) return false;
  return true;
}

/// Whether a text begins with markup: its first character is "<".
bool begins_markup(std::string_view text) {
  if (text.size() < 2) return false;
  const char next = text[1];
  return is_ascii_letter(next) || next == '!' || next == '?' || (next == '/' && text.size() > 2);
}

/// The place behind `mark`; the end of the text without it.
std::size_t behind(std::string_view text, std::string_view mark, std::size_t from) {
  const std::size_t at = text.find(mark, from);
  return at == kNone ? text.size() : at + mark.size();
}

std::size_t end_of_comment(std::string_view text, std::size_t begin) {
  constexpr std::size_t kOpening = 4;
  const std::string_view content = text.substr(begin + kOpening);
  if (content.starts_with('>')) return begin + kOpening + 1;
  if (content.starts_with("->")) return begin + kOpening + 2;
  for (std::size_t at = begin + kOpening; (at = text.find("--", at)) != kNone; ++at)
    for (const std::string_view end : {"-->", "--!>"})
      if (text.substr(at).starts_with(end)) return at + end.size();
  return text.size();
}

/// The place of the first of `bytes`; the end of the text without one.
std::size_t find_any(std::string_view text, std::string_view bytes, std::size_t from) {
  return std::min(text.find_first_of(bytes, from), text.size());
}

std::size_t find_none(std::string_view text, std::string_view bytes, std::size_t from) {
  return std::min(text.find_first_not_of(bytes, from), text.size());
}

/// Whether a list of words, in small letters, has the word.
bool has_word(std::string_view list, std::string_view word) {
  for (std::size_t at = 0; (at = list.find(word, at)) != kNone; at += word.size()) {
    const std::size_t end = at + word.size();
    if ((at == 0 || kSpaces.find(list[at - 1]) != kNone) &&
        (end == list.size() || kSpaces.find(list[end]) != kNone))
      return true;
  }
  return false;
}

void note_attribute(HtmlToken& token, std::string_view name, std::string_view value) {
  constexpr std::string_view kTranslate = "translate", kClass = "class";
  const auto is = [name](std::string_view wanted) {
    return name.size() == wanted.size() && begins_with(name, wanted);
  };
  if (is(kTranslate)) {
    const std::string word = in_small_letters(value.substr(0, kLongestElementName));
    token.forbids_translation |= word == "no";
    token.allows_translation |= word == "yes" || word.empty();
  } else if (is(kClass)) {
    token.forbids_translation |= has_word(in_small_letters(value), "notranslate");
  }
}

}  // namespace

bool HtmlTokenizer::next(HtmlToken& token) {
  if (at_ == document_.size()) return false;
  token = {.span = {at_, at_}};
  if (!raw_.empty()) {
    const std::size_t end = end_of_raw_text();
    token.kind = has_escapable_text(raw_) ? HtmlToken::Kind::text : HtmlToken::Kind::raw;
    raw_.clear();
    if (end > at_) {
      token.span.end = at_ = end;
      return true;
    }
  }
  if (document_[at_] == '<' && begins_markup(document_.substr(at_))) {
    read_markup(token);
    token.span.end = at_;
    return true;
  }
  token.kind = HtmlToken::Kind::text;
  do at_ = std::min(document_.find('<', at_ + 1), document_.size());
  while (at_ < document_.size() && !begins_markup(document_.substr(at_)));
  token.span.end = at_;
  return true;
}

void HtmlTokenizer::read_markup(HtmlToken& token) {
  const std::string_view rest = document_.substr(at_);
  if (is_ascii_letter(rest[1]) || (rest[1] == '/' && is_ascii_letter(rest[2]))) {
    read_tag(token);
    return;
  }
  token.kind = HtmlToken::Kind::other;
  if (rest.starts_with("<!--"))
    at_ = end_of_comment(document_, at_);
  else if (!foreign_.empty() && rest.starts_with("<![CDATA["))
    at_ = behind(document_, "]]>", at_);
  else
    at_ = behind(document_, ">", at_);
}

void HtmlTokenizer::read_tag(HtmlToken& token) {
  const bool ends = document_[at_ + 1] == '/';
  token.kind = ends ? HtmlToken::Kind::end_tag : HtmlToken::Kind::start_tag;
  const std::size_t begin = at_ + (ends ? 2 : 1);
  at_ = find_any(document_, "\t\n\f\r />", begin);
  if (at_ - begin <= kLongestElementName)
    token.name = in_small_letters(document_.substr(begin, at_ - begin));
  read_attributes(token);
  enter(token);
}

void HtmlTokenizer::read_attributes(HtmlToken& token) {
  const std::string_view text = document_;
  while (at_ < text.size()) {
    at_ = find_none(text, "\t\n\f\r /", at_);
    if (at_ == text.size()) return;
    if (text[at_] == '>') {
      token.self_closing = text[at_ - 1] == '/';
      ++at_;
      return;
    }
    const std::size_t name = at_;
    at_ = find_any(text, "\t\n\f\r /=>", at_ + 1);
    const std::string_view attribute = text.substr(name, at_ - name);
    const std::size_t sign = find_none(text, kSpaces, at_);
    if (sign == text.size() || text[sign] != '=') {
      note_attribute(token, attribute, {});
      continue;
    }
    at_ = find_none(text, kSpaces, sign + 1);
    if (at_ == text.size()) return;
    const char quote = text[at_];
    std::size_t value = at_;
    std::size_t end = 0;
    if (quote == '"' || quote == '\'') {
      ++value;
      end = std::min(text.find(quote, value), text.size());
      at_ = std::min(end + 1, text.size());
    } else {
      end = at_ = find_any(text, "\t\n\f\r >", at_);
    }
    note_attribute(token, attribute, text.substr(value, end - value));
    // The slash of an unquoted value does not close the tag.
    if (at_ < text.size() && text[at_] == '>') {
      ++at_;
      return;
    }
  }
}

/// Notes what a tag says of the text behind it.
void HtmlTokenizer::enter(const HtmlToken& tag) {
  const bool starts = tag.kind == HtmlToken::Kind::start_tag;
  if (foreign_.empty()) {
    if (!starts) return;
    if (has_raw_text(tag.name) || has_escapable_text(tag.name)) raw_ = tag.name;
    if ((tag.name == "svg" || tag.name == "math") && !tag.self_closing) {
      foreign_ = tag.name;
      foreign_depth_ = 1;
      html_depth_ = 0;
    }
    return;
  }
  const bool holds_html = tag.name == "foreignobject" || tag.name == "annotation-xml";
  if (starts && html_depth_ == 0 && ends_foreign_content(tag.name)) {
    foreign_.clear();
  } else if (holds_html && !tag.self_closing) {
    if (starts)
      ++html_depth_;
    else if (html_depth_ > 0)
      --html_depth_;
  } else if (tag.name == foreign_ && !tag.self_closing) {
    foreign_depth_ += starts ? 1 : -1;
    if (foreign_depth_ == 0) foreign_.clear();
  }
}

/// Whether "<" or "</", and the name of the element, and the end of a name are at a place.
bool HtmlTokenizer::is_tag_of(std::size_t at, std::string_view opening) const {
  std::string_view rest = document_.substr(at);
  if (!rest.starts_with(opening)) return false;
  rest.remove_prefix(opening.size());
  return begins_with(rest, raw_) && rest.size() > raw_.size() &&
         std::string_view("\t\n\f\r />").find(rest[raw_.size()]) != kNone;
}

std::size_t HtmlTokenizer::find_end_tag(std::size_t from) const {
  for (std::size_t at = from; (at = document_.find("</", at)) != kNone; at += 2)
    if (is_tag_of(at, "</")) return at;
  return document_.size();
}

std::size_t HtmlTokenizer::end_of_raw_text() const {
  if (raw_ == "plaintext") return document_.size();
  return raw_ == "script" ? end_of_script() : find_end_tag(at_);
}

/// In a comment within a script a script may be, with its own end tag (HTML Standard, 13.2.5.15 and
/// following).
std::size_t HtmlTokenizer::end_of_script() const {
  enum class State : std::uint8_t { script, comment, inner_script };
  State state = State::script;
  for (std::size_t at = at_; (at = find_any(document_, "<-", at)) < document_.size(); ++at) {
    const std::string_view rest = document_.substr(at);
    if (state == State::script && rest.starts_with("<!--")) {
      state = State::comment;
      ++at;  // its dashes may be those of "-->"
    } else if (state != State::script && rest.starts_with("-->")) {
      state = State::script;
    } else if (is_tag_of(at, "</")) {
      if (state != State::inner_script) return at;
      state = State::comment;
    } else if (state == State::comment && is_tag_of(at, "<")) {
      state = State::inner_script;
    }
  }
  return document_.size();
}

}  // namespace fuselage
