#include "corpus/job/corpus_translation.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "base/files/content_hash.h"
#include "fuselage/base/error.h"

namespace fuselage {
namespace {

/// The digest of rows, and of one more.
std::uint64_t digest_with(std::uint64_t digest, std::string_view row) {
  ContentHash hash;
  hash.add(digest);
  hash.add(row);
  return hash.words()[0];
}

std::size_t count_words(std::string_view line) {
  std::size_t words = 0;
  bool within = false;
  for (const char c : line) {
    const bool blank = c == ' ' || (c >= '\t' && c <= '\r');
    words += !blank && !within;
    within = !blank;
  }
  return words;
}

}  // namespace

bool CorpusTranslation::next(std::string& line, LineGuide& guide) {
  while (line_ == lines_.size())
    if (!next_row()) return false;
  line = std::move(lines_[line_]);
  guide.number = number_ - 1;
  guide.part = line_++;
  return true;
}

bool CorpusTranslation::ready(std::chrono::milliseconds timeout) const {
  return line_ < lines_.size() || !reader_ || reader_->ready(timeout);
}

/// Opens the next text that is not complete; false if there is none.
bool CorpusTranslation::begin_text() {
  while (text_ < texts_.size()) {
    const CorpusText& text = texts_[text_++];
    const TextState done = text.output->begin();
    state_ = {};
    number_ = 0;
    if (done.is_complete) {
      for (const std::string& input : text.inputs)
        bytes_of_ended_ += check_readable(input).value_or(0);
      continue;
    }
    reader_.emplace(text.inputs, options_.limit);
    skip_done_rows(done);
    return true;
  }
  return false;
}

/// Reads a row of the current text and counts it; false at the end.
bool CorpusTranslation::read_row(std::string& row) {
  if (!reader_->next(row)) return false;
  ++state_.rows;
  state_.digest = digest_with(state_.digest, row);
  return true;
}

void CorpusTranslation::skip_done_rows(const TextState& done) {
  const auto refuse = [&](std::string_view what) {
    throw Error(fmt::format(
        "{} is not the text that it was when its translation began: {}; bring it back, or remove "
        "what there is of the output and begin anew",
        input_name(texts_[text_ - 1].inputs.front()), what));
  };
  std::string row;
  while (state_.rows < done.rows) {
    if (!read_row(row))
      refuse(fmt::format("it has {} lines, but {} were translated", state_.rows, done.rows));
    if (format_.has_header() && reader_->begins_file())
      format_.read_header(row);
    else
      ++number_;
  }
  if (state_.digest != done.digest)
    refuse(fmt::format("the hash of its first {} lines was {:016x}, and is {:016x}", done.rows,
                       done.digest, state_.digest));
  state_.words = done.words;
}

/// Takes the next row of the shard as the current one; false at the end of all texts.
bool CorpusTranslation::next_row() {
  lines_.clear();
  line_ = 0;
  std::string row;
  if (!reader_ && !begin_text()) return false;
  TextOutput* const output = texts_[text_ - 1].output.get();
  if (!read_row(row)) {
    bytes_of_ended_ += reader_->bytes_read();
    reader_.reset();
    push({.output = output, .record = std::nullopt, .state = state_});
    return true;
  }
  Pending pending{.output = output, .record = std::nullopt, .state = {}};
  if (format_.has_header() && reader_->begins_file()) {
    const bool is_first = state_.rows == 1;
    std::string header = read_record_header(row);
    if (!is_first) return true;
    header.pop_back();
    pending.record = untranslated_row(std::move(header));
  } else {
    if (!options_.shard.has(number_++)) return true;
    pending.number = number_ - 1;
    pending.record = read_record(std::move(row));
  }
  lines_ = std::move(pending.record->lines);
  pending.lines = lines_.size();
  for (const std::string& line : lines_) pending.words += count_words(line);
  state_.words += pending.words;
  pending.state = state_;
  pending.bytes_read = bytes_of_ended_ + reader_->bytes_read();
  push(std::move(pending));
  return true;
}

/// The header as it is printed.
std::string CorpusTranslation::read_record_header(std::string_view row) {
  try {
    return format_.read_header(row);
  } catch (const Error& error) {
    throw Error(fmt::format("{}: {}", reader_->place(), error.what()));
  }
}

Record CorpusTranslation::read_record(std::string row) {
  std::string kept = options_.keep_bad_rows ? row : std::string();
  try {
    return format_.read(std::move(row), number_ - 1);
  } catch (const Error& error) {
    if (!options_.keep_bad_rows) throw Error(fmt::format("{}: {}", reader_->place(), error.what()));
  }
  ++bad_rows_;
  return untranslated_row(std::move(kept));
}

void CorpusTranslation::push(Pending pending) {
  const std::lock_guard lock(mutex_);
  pending_.push_back(std::move(pending));
  write_done_rows();
}

void CorpusTranslation::add(Translation&& translation) {
  const std::lock_guard lock(mutex_);
  check(!pending_.empty(), "a translation has its row");
  pending_.front().translations.push_back(std::move(translation));
  write_done_rows();
}

void CorpusTranslation::write_done_rows() {
  while (!pending_.empty()) {
    Pending& row = pending_.front();
    if (!row.record) {
      row.output->finish(row.state);
    } else if (row.translations.size() < row.lines) {
      return;
    } else {
      row.output->write(row.record->joined(row.translations), row.state);
      on_done_({.number = row.number,
                .translations = row.translations,
                .words = row.words,
                .bytes_read = row.bytes_read});
    }
    pending_.pop_front();
  }
}

}  // namespace fuselage
