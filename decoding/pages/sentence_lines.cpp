#include "decoding/pages/sentence_lines.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>

#include "decoding/lines/line_encoder.h"
#include "text/utf8.h"

namespace fuselage {
namespace {

/// The first byte of a text that is not valid UTF-8, or NUL; the size of the text: there is none.
std::size_t invalid_byte(std::string_view text) {
  std::size_t at = 0;
  while (at < text.size()) {
    const std::size_t length = utf8_sequence_length(text.substr(at));
    if (length == 0) break;
    at += length;
  }
  return at;
}

std::size_t count_line_breaks(std::string_view text) {
  return static_cast<std::size_t>(std::ranges::count(text, '\n'));
}

}  // namespace

void expect_valid_page(std::string_view page) {
  const std::size_t at = invalid_byte(page);
  if (at < page.size())
    refuse_invalid_text(fmt::format("line {}", count_line_breaks(page.substr(0, at)) + 1));
}

std::vector<LineGuide> sentence_lines(const Page& page) {
  const std::string_view document = page.document();
  std::vector<LineGuide> guides;
  std::size_t at = 0, line = 0;
  for (std::size_t i = 0; i < page.sentences().size(); ++i) {
    const TextSpan place = page.place(i);
    std::size_t begin = place.begin;
    if (!is_valid_utf8(page.sentences()[i]))
      if (const std::size_t invalid = invalid_byte(place.of(document)); invalid < place.size())
        begin += invalid;
    // Markup of two sentences may overlap.
    if (begin > at) line += count_line_breaks(document.substr(at, begin - at));
    at = std::max(at, begin);
    const bool same = !guides.empty() && guides.back().number == line;
    guides.push_back({.number = line, .part = same ? guides.back().part + 1 : 0});
  }
  return guides;
}

}  // namespace fuselage
