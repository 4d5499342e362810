#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "fuselage/backends/row_frame.h"
#include "fuselage/decoding/search_guide.h"
#include "fuselage/decoding/translation.h"
#include "text/placeholders/placeholders.h"
#include "text/vocabulary.h"

namespace fuselage {

/// A line as a model reads it.
struct EncodedLine {
  WordIds words;  ///< the end symbol last
  /// The words of further source texts and factors (SourceEncoder).
  std::vector<WordIds> further = {};
  SearchGuide guide = {};
  std::vector<std::string> texts = {};  ///< of the words but the end symbol; empty unless asked for
  std::vector<std::string> prefix_texts = {};  ///< the same of SearchGuide::prefix
  std::vector<Placeholder> placeholders = {};  ///< in the first text
  std::vector<LineOddity> oddities;
  std::size_t bytes = 0;     ///< size of the given line with its line break
  std::uint64_t stream = 0;  ///< of random numbers (sampling_streams.h)

  bool empty() const { return words.size() <= 1; }
};

/// Turns lines of text into words.
class LineEncoder {
 public:
  struct Options {
    std::size_t max_length = 1000;  ///< maximum number of words, including the end symbol
    bool right_left = false;        ///< reverse the words, except the end symbol
    bool strict = false;            ///< invalid and too long lines are errors
    std::string text;               ///< name of the text in errors: "source"; empty: the only text
    bool texts = false;             ///< lines have the texts of their words
    /// Null: none; of the same vocabulary, and must outlive the encoder.
    const Placeholders* placeholders = nullptr;
  };

  /// The vocabulary must outlive the encoder. Throws Error for a max_length of 0.
  LineEncoder(const Vocabulary& vocabulary, Options options);

  /// `number` is the number of the line, from 0. Reads at most kMaxLineBytes bytes, in linear time.
  /// With Options::strict, throws Error naming an invalid or too long line, counted from 1.
  EncodedLine encode(std::string_view line, std::size_t number,
                     const LineContext& context = {}) const;

  /// A line of valid UTF-8 as the vocabulary reads it.
  Placeholders::Line with_placeholders(std::string_view line,
                                       const LineContext& context = {}) const;

 private:
  std::string name_of(std::size_t number) const;

  const Vocabulary& vocabulary_;
  Options options_;
};

/// Throws the Error for a text, named by `name` ("line 3"), that is not valid UTF-8 or has NUL in
/// it.
[[noreturn]] void refuse_invalid_text(std::string_view name);

/// `text` with every NUL and every byte outside a valid UTF-8 sequence replaced by U+FFFD.
ReplacedText repaired_text(std::string_view text);
std::string valid_text(std::string_view text);

/// `text` without line breaks, which words of a vocabulary may contain.
std::string one_line(std::string text);

/// Adds the oddities of `more` that are missing.
void add_oddities(std::vector<LineOddity>& oddities, const std::vector<LineOddity>& more);

/// Gathers the oddities of the lines of a text into a few notes.
class LineNotes {
 public:
  /// `where` names the text in the notes; empty for a single text. `max_length` is the limit of the
  /// encoder.
  explicit LineNotes(std::size_t max_length, std::string where = "")
      : max_length_(max_length), where_(std::move(where)) {}

  /// A line that is added in parts, one after another, counts once.
  void add(std::size_t number, const std::vector<LineOddity>& oddities);

  /// "2 lines longer than 1000 tokens were cut (lines 3, 9)" and the like, one per kind.
  std::vector<std::string> notes() const;

 private:
  struct Lines {
    std::size_t count = 0;
    std::size_t last = 0;            ///< its number, from 1
    std::vector<std::size_t> first;  ///< numbers of the first few, from 1
  };

  std::size_t max_length_;
  std::string where_;
  std::map<LineOddity, Lines> lines_;
};

}  // namespace fuselage
