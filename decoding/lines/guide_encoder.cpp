#include "decoding/lines/guide_encoder.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <unordered_set>
#include <utility>

#include "base/suggest.h"
#include "decoding/lines/line_reader.h"
#include "decoding/search/term_automaton.h"
#include "fuselage/base/error.h"
#include "text/utf8.h"

namespace fuselage {
namespace {

constexpr std::size_t kTermsToName = 10;

/// The parts of `text` between separators, at least one.
std::vector<std::string_view> split_at(std::string_view text, std::string_view separator) {
  std::vector<std::string_view> parts;
  while (true) {
    const std::size_t end = text.find(separator);
    parts.push_back(text.substr(0, end));
    if (end == std::string_view::npos) return parts;
    text.remove_prefix(end + separator.size());
  }
}

/// Whether a placeholder stands for a term, and comes back as its translation, or for more.
bool is_replaced(const Terminology::Occurrence& term, std::span<const Placeholder> used) {
  return term.place && std::ranges::any_of(used, [&](const Placeholder& each) {
           return each.place.begin < term.place->end && term.place->begin < each.place.end;
         });
}

std::size_t words_of(const TermForms& forms) {
  std::size_t words = 0;
  for (const WordIds& form : forms) words += form.size();
  return words;
}

}  // namespace

GuideEncoder::GuideEncoder(const Vocabulary& source, const Vocabulary& target, Options options)
    : target_(target),
      options_(std::move(options)),
      prefixes_(target, {.max_length = options_.max_length,
                         .right_left = false,
                         .strict = options_.strict,
                         .text = "prefix",
                         .texts = options_.texts}) {
  if (options_.right_left && options_.prefix_field)
    throw Error(
        "the model translates from right to left, so a translation cannot begin with given words; "
        "leave prefixes out");
  if (!options_.terminology.empty()) load(options_.terminology, source);
}

void GuideEncoder::load(const std::string& path, const Vocabulary& source) {
  terminology_ = load_terminology(path, &source);
  std::vector<std::string> without;
  std::size_t count = 0;
  for (const Terminology::Entry& entry : terminology_->entries()) {
    TermForms& forms = entries_.emplace_back();
    for (const std::string& form : entry.forms)
      if (auto words = spell(form)) forms.push_back(std::move(*words));
    if (!forms.empty() || ++count > kTermsToName) continue;
    without.push_back(entry.source);
  }
  if (count > 0)
    notes_.push_back(fmt::format(
        "{}: the target vocabulary has no words for the translations of {} of {} terms, which are "
        "left out ({}{})",
        path, count, entries_.size(), fmt::join(without, ", "), count > kTermsToName ? ", …" : ""));
}

/// Nothing for a form with unknown words or the end symbol, or without words.
std::optional<WordIds> GuideEncoder::spell(std::string_view form) const {
  WordIds words = target_.encode(valid_text(form));
  words.pop_back();
  const auto is_missing = [this](WordId word) {
    return word == target_.unknown_id() || word == target_.end_id();
  };
  if (words.empty() || std::ranges::any_of(words, is_missing)) return std::nullopt;
  if (options_.right_left) std::ranges::reverse(words);
  return words;
}

GuideEncoder::GuidedLine GuideEncoder::split(std::string_view line, std::size_t number) const {
  if (!reads_fields() || line.empty()) return {line, {}};
  const std::vector<std::string_view> fields = split_at(line, "\t");
  const std::size_t terms_at = options_.source_texts + (options_.prefix_field ? 1 : 0);
  if (fields.size() < options_.source_texts || (fields.size() > terms_at && !options_.term_fields))
    throw Error(fmt::format(
        "line {} has {} fields, separated by tabs, but a line has {} of the source{}{}", number + 1,
        fields.size(), options_.source_texts, options_.prefix_field ? ", one of the prefix" : "",
        options_.term_fields ? ", and one for each term" : ""));
  GuidedLine result;
  const std::string_view last = fields[options_.source_texts - 1];
  result.source = line.substr(0, static_cast<std::size_t>(last.data() - line.data()) + last.size());
  if (options_.prefix_field && fields.size() > options_.source_texts)
    result.guide.prefix = fields[options_.source_texts];
  for (std::size_t i = terms_at; i < fields.size(); ++i) {
    if (fields[i].empty()) continue;
    const auto forms = split_at(fields[i], kFormSeparator);
    result.guide.terms.emplace_back(forms.begin(), forms.end());
  }
  return result;
}

void GuideEncoder::add_prefix(const std::string& prefix, std::size_t number,
                              EncodedLine& line) const {
  if (options_.right_left)
    throw Error(
        "the model translates from right to left, so a translation cannot begin with given words; "
        "leave the prefix out");
  EncodedLine encoded = prefixes_.encode(
      prefix.size() > kMaxLineBytes ? prefix : with_placeholders(prefix, line.placeholders),
      number);
  encoded.words.pop_back();
  if (std::ranges::find(encoded.words, target_.end_id()) != encoded.words.end())
    throw Error(fmt::format(
        "line {}: the prefix has the end symbol, behind which no translation goes on", number + 1));
  line.guide.prefix = std::move(encoded.words);
  line.prefix_texts = std::move(encoded.texts);
  for (const LineOddity oddity : encoded.oddities)
    if (oddity != LineOddity::empty &&
        std::ranges::find(line.oddities, oddity) == line.oddities.end())
      line.oddities.push_back(oddity);
}

void GuideEncoder::encode(const LineGuide& guide, std::string_view source, std::size_t number,
                          EncodedLine& line) const {
  if (!guide.prefix.empty()) add_prefix(guide.prefix, number, line);
  std::vector<TermForms>& terms = line.guide.terms;
  std::size_t words = 0;
  for (const Term& term : guide.terms) {
    TermForms& forms = terms.emplace_back();
    for (const std::string& form : term)
      if (auto spelt = spell(with_placeholders(form, line.placeholders)))
        forms.push_back(std::move(*spelt));
    if (forms.empty())
      throw Error(fmt::format("line {}: the target vocabulary has no words for the term {}",
                              number + 1, in_quotes(fmt::format("{}", fmt::join(term, "|||")))));
    words += words_of(forms);
  }
  check_term_limits(terms, fmt::format("line {}", number + 1));
  std::unordered_set<std::size_t> seen;
  for (const Terminology::Occurrence& term : terms_in(source)) {
    if (seen.contains(term.entry)) continue;
    const TermForms& forms = entries_[term.entry];
    if (forms.empty() || is_replaced(term, line.placeholders)) continue;
    seen.insert(term.entry);
    words += words_of(forms);
    if (terms.size() == kMaxTerms || words > kMaxTermWords) break;
    terms.push_back(forms);
  }
}

/// The terms of the terminology in a source text, as far as it is read.
std::vector<Terminology::Occurrence> GuideEncoder::terms_in(std::string_view source) const {
  if (!terminology_) return {};
  return terminology_->occurrences(valid_text(utf8_prefix(source, kMaxLineBytes)));
}

LineContext GuideEncoder::context(const LineGuide& guide, std::string_view source) const {
  LineContext context{.translation = std::string(utf8_prefix(guide.prefix, kMaxLineBytes)),
                      .terms = {}};
  const auto add_forms = [&](const std::vector<std::string>& forms) {
    for (const std::string& form : forms) context.translation += "\n" + form;
  };
  for (const Term& term : guide.terms) add_forms(term);
  std::unordered_set<std::size_t> seen;
  for (const auto& [entry, place] : terms_in(source)) {
    if (entries_[entry].empty()) continue;
    const std::vector<std::string>& forms = terminology_->entries()[entry].forms;
    if (place) context.terms.push_back({*place, forms.front()});
    if (seen.insert(entry).second) add_forms(forms);
  }
  context.translation = valid_text(context.translation);
  return context;
}

std::vector<bool> GuideEncoder::continuations() const {
  std::vector<bool> result(static_cast<std::size_t>(target_.size()));
  for (WordId id = 0; id < target_.size(); ++id)
    result[static_cast<std::size_t>(id)] = target_.continues_word(id);
  return result;
}

}  // namespace fuselage
