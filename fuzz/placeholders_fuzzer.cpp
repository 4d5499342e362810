#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "text/placeholders/placeholders.h"
#include "text/utf8.h"
#include "text/vocabulary.h"

namespace {

using fuselage::Placeholders;
using fuselage::ReplacedText;
using fuselage::TextSpan;

void expect(bool holds) {
  if (!holds) __builtin_trap();
}

const fuselage::Vocabulary& vocabulary() {
  static const auto loaded = fuselage::load_vocabulary(FUSELAGE_FUZZ_VOCABULARY);
  return *loaded;
}

/// The first line has placeholders put in and taken out; the others are its translation, and the
/// beginning of one.
void check(std::string_view line, const std::string& translation) {
  static const Placeholders placeholders(vocabulary(), {"XYZ", "BBC", "Tom"});
  const Placeholders::Line read = placeholders.put_into(line, vocabulary().encode(line));
  const std::string& text = read.text.text();
  expect(fuselage::without_placeholders(text, read.used).text() == line);
  expect(read.text.to_first({0, text.size()}) == TextSpan{0, line.size()});
  const ReplacedText restored = fuselage::without_placeholders(translation, read.used);
  for (std::size_t begin = 0; begin < translation.size(); begin += 1 + begin / 8) {
    const TextSpan place = restored.to_text({begin, translation.size()});
    expect(place.begin <= place.end && place.end <= restored.text().size());
  }
  fuselage::with_placeholders(translation, read.used);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  const std::size_t end = bytes.find('\n');
  if (end == std::string_view::npos || !fuselage::is_valid_utf8(bytes.substr(0, end))) return 0;
  check(bytes.substr(0, end), std::string(bytes.substr(end + 1)));
  return 0;
}
