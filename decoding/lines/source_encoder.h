#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "decoding/lines/line_encoder.h"
#include "decoding/lines/text_frame.h"
#include "decoding/lines/vocabulary_pair.h"
#include "fuselage/backends/batch.h"
#include "fuselage/graph/graph.h"

namespace fuselage {

/// Turns a line into the words of all source texts of a model. A model with several texts or
/// factors reads lines with a field for each, separated by tabs, in the order of source_texts().
class SourceEncoder {
 public:
  /// The vocabularies must outlive the encoder; the frame is that of the first text. Throws Error
  /// as LineEncoder does.
  SourceEncoder(const Graph& graph, const VocabularyPair& vocabularies,
                LineEncoder::Options options, TextFrame frame = {});

  /// `number` is the number of the line, from 0. Throws Error as LineEncoder::encode does, for
  /// another number of fields, and for a factor with another number of words than its text.
  EncodedLine encode(std::string_view line, std::size_t number,
                     const LineContext& context = {}) const;

  /// A text or factor.
  struct Field {
    std::string name;  ///< of the word map
    DomainId domain;
    LineEncoder encoder;
  };
  /// One field: the words of the line.
  const std::vector<Field>& fields() const { return fields_; }
  const TextFrame& frame() const { return frame_; }

 private:
  std::vector<std::string_view> split(std::string_view line, std::size_t number) const;
  void expect_equal_factors(const EncodedLine& line, std::size_t number) const;

  std::vector<Field> fields_;
  TextFrame frame_;
};

/// Lines as a batch, with the words around their texts. Neither copies nor moves, since the batch
/// refers to it.
class SourceBatch {
 public:
  SourceBatch(const SourceEncoder& encoder, std::span<const EncodedLine> lines);
  SourceBatch(const SourceBatch&) = delete;
  SourceBatch& operator=(const SourceBatch&) = delete;

  /// Without shortlists. Empty lines are left out.
  Batch batch() const { return {.sentences = sentences_, .inputs = inputs_}; }

 private:
  struct Rows {
    std::vector<std::int32_t> lengths, words;
  };

  std::vector<WordIds> sentences_;
  std::vector<Rows> rows_;
  std::vector<BatchInput> inputs_;
};

}  // namespace fuselage
