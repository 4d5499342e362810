#include "decoding/lines/text_frame.h"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "base/suggest.h"
#include "decoding/lines/language_codes.h"
#include "fuselage/base/error.h"
#include "text/pages/sentence_boundaries.h"

namespace fuselage {
namespace {

constexpr std::string_view kSource = "{source}", kTarget = "{target}";

bool has_placeholder(const std::vector<std::string>& words, std::string_view placeholder) {
  return std::ranges::find(words, placeholder) != words.end();
}

/// Whether two codes are of one language: "de" and "deu_Latn", but not "zh_Hans" and "zh_Hant".
bool is_same(std::string_view one, std::string_view other) {
  constexpr std::string_view kSeparators = "_-";
  const bool has_general = one.find_first_of(kSeparators) == std::string_view::npos ||
                           other.find_first_of(kSeparators) == std::string_view::npos;
  return one == other || (has_general && base_language(one) == base_language(other));
}

class Framer {
 public:
  Framer(const TextFormat& format, const std::string& source_language,
         const std::string& target_language)
      : format_(format),
        source_(code_of(source_language, format.source_language)),
        target_(code_of(target_language, format.target_language)) {
    const bool is_stated = !source_language.empty() || !target_language.empty();
    if (is_stated && format.languages.empty() && format.tasks.empty()) expect_pair();
    if (target_.empty() && has_placeholder(format.target_prefix, kTarget) && format.first_word < 0)
      throw Error(
          fmt::format("the model translates into {} languages; state a target-language, such as {}",
                      format.languages.size(), in_quotes(format.languages.front().code)));
  }

  /// Words of the format as ids.
  WordIds ids(const std::vector<std::string>& words, const Vocabulary& vocabulary) const {
    WordIds ids;
    for (const std::string& word : words) {
      const std::string code = word == kSource ? source_ : word == kTarget ? target_ : "";
      if ((word == kSource || word == kTarget) && code.empty()) continue;
      const std::string& text = code.empty() ? word : find_language(format_.languages, code).word;
      const auto id = vocabulary.find(text);
      if (!id)
        throw Error(
            fmt::format("the vocabulary has no word {}, which the model needs", in_quotes(text)));
      ids.push_back(*id);
    }
    return ids;
  }

  WordIds beginning(const Vocabulary& target) const {
    WordIds words = ids(format_.target_prefix, target);
    if (words.empty() && format_.first_word >= 0) words.push_back(format_.first_word);
    return words;
  }

  std::string task() const {
    if (source_.empty() && target_.empty()) return "";
    for (const TaskText& task : format_.tasks)
      if ((task.source.empty() || task.source == source_) && task.target == target_)
        return task.text;
    if (format_.tasks.empty()) return "";
    const TaskText& known = format_.tasks.front();
    if (known.source.empty())
      throw Error(
          fmt::format("the model needs a target-language, such as {}, besides a source-language",
                      in_quotes(known.target)));
    throw Error(fmt::format(
        "the model has no task of translating from {} to {}; one that it has is from {} to {}",
        in_quotes(source_), in_quotes(target_), in_quotes(known.source), in_quotes(known.target)));
  }

 private:
  /// Throws Error unless the languages are the pair that the model states.
  void expect_pair() const {
    const std::string &from = format_.source_language, &to = format_.target_language;
    if (from.empty() && to.empty())
      throw Error(
          "the model does not translate between several languages; leave source-language and "
          "target-language out");
    if (!is_same(source_, from) || !is_same(target_, to))
      throw Error(fmt::format("the model translates from {} to {}, not from {} to {}",
                              in_quotes(from), in_quotes(to), in_quotes(source_),
                              in_quotes(target_)));
  }

  std::string code_of(const std::string& stated, const std::string& otherwise) const {
    if (stated.empty()) return otherwise;
    return format_.languages.empty() ? stated : find_language(format_.languages, stated).code;
  }

  const TextFormat& format_;
  std::string source_, target_;
};

}  // namespace

WordIds TextFrame::framed(const WordIds& words) const {
  WordIds all = before;
  all.insert(all.end(), words.begin(), words.end() - (has_end ? 0 : 1));
  all.insert(all.end(), behind.begin(), behind.end());
  return all;
}

void TextFrame::unframe(std::vector<float>& weights) const {
  weights.erase(weights.end() - std::ssize(behind), weights.end());
  weights.erase(weights.begin(), weights.begin() + std::ssize(before));
  if (!has_end) weights.push_back(0);
}

TextFrame text_frame(const TextFormat& format, const Vocabulary& source, const Vocabulary& target,
                     const std::string& source_language, const std::string& target_language) {
  const Framer framer(format, source_language, target_language);
  return {.task = framer.task(),
          .before = framer.ids(format.source_prefix, source),
          .behind = framer.ids(format.source_suffix, source),
          .has_end = format.source_end,
          .beginning = framer.beginning(target)};
}

}  // namespace fuselage
