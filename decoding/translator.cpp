#include "fuselage/decoding/translator.h"

#include <fmt/format.h>

#include <istream>
#include <utility>

#include "decoding/lines/line_reader.h"
#include "decoding/translator_impl.h"
#include "fuselage/base/error.h"
#include "fuselage/models/load_model.h"

namespace fuselage {

const Translator::Impl& Translator::impl() const { return static_cast<const Impl&>(state()); }

Translator::Translator(Model model, TranslatorOptions options)
    : ModelHandle(std::make_unique<const Impl>(std::move(model), std::move(options))) {}

Translator::Translator(const std::string& path, TranslatorOptions options)
    : Translator(load_model(path), std::move(options)) {}

Translation Translator::translate(std::string_view line, const LineGuide& guide) const {
  return impl().translate(line, guide);
}

std::vector<Translation> Translator::translate(const std::vector<std::string>& lines) const {
  return translate(lines, std::vector<LineGuide>{});
}

std::vector<Translation> Translator::translate(const std::vector<std::string>& lines,
                                               const std::vector<LineGuide>& guides) const {
  if (!guides.empty() && guides.size() != lines.size())
    throw Error(fmt::format("there are {} lines, but {} guides; give one for each line",
                            lines.size(), guides.size()));
  std::vector<Translation> results(lines.size());
  const auto keep = [&](std::size_t line, Translation&& translation) {
    results[line] = std::move(translation);
  };
  std::size_t next = 0;
  const auto source = [&](std::string& line, LineGuide& guide) {
    if (next == lines.size()) return false;
    line = lines[next];
    if (!guides.empty()) guide = guides[next];
    ++next;
    return true;
  };
  impl().run(source, keep, nullptr);
  return results;
}

std::vector<Translation> Translator::translate(std::initializer_list<std::string> lines) const {
  return translate(std::vector<std::string>(lines));
}

void Translator::translate(const Lines& lines, const Sink& sink, const InputReady& ready) const {
  if (!lines) throw Error("the source of lines is empty");
  if (!sink) throw Error("the sink that receives translations is empty");
  impl().run(lines, sink, ready);
}

void Translator::translate(std::istream& input, const Sink& sink, const InputReady& ready) const {
  const auto source = [next = lines_of(input)](std::string& line, LineGuide&) {
    return next(line);
  };
  translate(source, sink, ready);
}

std::size_t Translator::count_tokens(std::string_view line) const {
  return impl().count_tokens(line);
}

TokenSpans Translator::token_spans(std::string_view line, const TranslatedText& translation,
                                   const LineGuide& guide) const {
  return impl().token_spans(line, translation, guide);
}

const std::string& Translator::source_language() const { return impl().source_language(); }

const Graph& Translator::graph() const { return impl().graph(); }

std::string Translator::target_word(std::int32_t id) const { return impl().target_word(id); }

}  // namespace fuselage
