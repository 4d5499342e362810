#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "backends/row_frame.h"
#include "text/vocabulary.h"

namespace fuselage {

/// What can be odd about a line of input without keeping it from being translated.
enum class LineOddity : std::uint8_t {
  empty,         ///< no words; its translation is empty
  invalid_text,  ///< not UTF-8, or NUL in it; what is invalid counts as U+FFFD
  too_long,      ///< more than max-length words; the rest is cut off
  too_large,     ///< more than kMaxLineBytes bytes; the rest is cut off, at a character's end
};

/// A line as a model reads it.
struct EncodedLine {
  WordIds words;  ///< the end symbol last
  std::vector<LineOddity> oddities;
  std::size_t bytes = 0;  ///< of the line as it was given, and its end

  bool empty() const { return words.size() <= 1; }
};

/// Turns lines of text into words.
class LineEncoder {
 public:
  struct Options {
    std::size_t max_length = 1000;  ///< words that are read of a line, the end symbol counted
    bool right_left = false;        ///< the words are given in reverse, except the end symbol
    bool strict = false;            ///< invalid and too long lines are errors
    std::string text;               ///< names the text in errors: "source"; empty: there is one
  };

  /// The vocabulary must outlive the encoder. Throws Error for a max_length of 0.
  LineEncoder(const Vocabulary& vocabulary, Options options);

  /// `number` is that of the line, from 0. Reads kMaxLineBytes bytes of it at most, in time linear
  /// in these. Throws Error naming the line, counted from 1, where the options ask for it.
  EncodedLine encode(std::string_view line, std::size_t number) const;

 private:
  std::string name_of(std::size_t number) const;

  const Vocabulary& vocabulary_;
  Options options_;
};

/// `text` with every NUL and every byte that is no part of UTF-8 replaced by U+FFFD.
std::string valid_text(std::string_view text);

/// Gathers what was odd about the lines of a text into a few notes.
class LineNotes {
 public:
  /// `where` names the text in the notes when there are several; may be empty. `max_length` is that
  /// of the lines.
  explicit LineNotes(std::size_t max_length, std::string where = "")
      : max_length_(max_length), where_(std::move(where)) {}

  void add(std::size_t number, const std::vector<LineOddity>& oddities);

  /// "2 lines longer than 1000 tokens were cut (lines 3, 9)" and the like, one per kind.
  std::vector<std::string> notes() const;

 private:
  struct Lines {
    std::size_t count = 0;
    std::vector<std::size_t> first;  ///< numbers of the first few, from 1
  };

  std::size_t max_length_;
  std::string where_;
  std::map<LineOddity, Lines> lines_;
};

}  // namespace fuselage
