#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "corpus/input/row_reader.h"
#include "corpus/job/shard.h"
#include "corpus/output/text_output.h"
#include "corpus/records/record.h"
#include "fuselage/decoding/line_guide.h"

namespace fuselage {

/// A text and where its translation goes.
struct CorpusText {
  std::vector<std::string> inputs;  ///< files, one after another
  std::unique_ptr<TextOutput> output;
};

/// A row that has been translated and written.
struct DoneRow {
  std::size_t number;  ///< among the rows of the text without headers, from 0
  std::span<const Translation> translations;
  std::size_t words;         ///< as `wc -w` counts them
  std::uint64_t bytes_read;  ///< of all inputs, before they are expanded
};

/// Texts as a stream of lines to translate, and the translations as rows of their outputs. Rows are
/// read by one thread and written by others, in order. Texts follow one another without a pause. A
/// text whose output has been begun goes on behind the rows that are there, if its rows up to there
/// are those that they were.
class CorpusTranslation {
 public:
  struct Options {
    Shard shard = {};            ///< of the rows of each text
    bool keep_bad_rows = false;  ///< rows that cannot be read are printed as they are
    RowReader::Limit limit;
  };
  using OnDone = std::function<void(const DoneRow&)>;

  CorpusTranslation(RecordFormat& format, std::vector<CorpusText> texts, const Options& options,
                    OnDone on_done)
      : format_(format),
        texts_(std::move(texts)),
        options_(options),
        on_done_(std::move(on_done)) {}

  /// Translator::Lines. Throws Error with the file and the line of a row that cannot be read.
  bool next(std::string& line, LineGuide& guide);

  /// Whether next() would not wait for input.
  bool ready(std::chrono::milliseconds timeout) const;

  /// Translator::Sink: the translations of the lines in their order.
  void add(Translation&& translation);

  /// Rows that were printed as they are, because they cannot be read.
  std::size_t bad_rows() const { return bad_rows_; }

 private:
  /// A row whose lines are translated, or the end of a text.
  struct Pending {
    TextOutput* output;
    std::optional<Record> record;  ///< nullopt: the end of the text
    TextState state;               ///< with this row
    std::size_t lines = 0;
    std::size_t number = 0;
    std::size_t words = 0;
    std::uint64_t bytes_read = 0;
    std::vector<Translation> translations = {};
  };

  bool begin_text();
  bool read_row(std::string& row);
  void skip_done_rows(const TextState& done);
  bool next_row();
  void push(Pending pending);
  std::string read_record_header(std::string_view row);
  Record read_record(std::string row);
  void write_done_rows();

  RecordFormat& format_;
  std::vector<CorpusText> texts_;
  Options options_;
  OnDone on_done_;

  // Of the thread that reads.
  std::size_t text_ = 0;              ///< of the texts, the next one
  std::optional<RowReader> reader_;   ///< of the current text; none between texts
  std::uint64_t bytes_of_ended_ = 0;  ///< of texts that have ended
  TextState state_;                   ///< of what was read
  std::size_t number_ = 0;            ///< of the next row, headers not counted
  std::vector<std::string> lines_;    ///< of the current row
  std::size_t line_ = 0;              ///< of them, the next one
  std::size_t bad_rows_ = 0;

  std::mutex mutex_;
  std::deque<Pending> pending_;
};

}  // namespace fuselage
