#include "tools/commands/translation/translate_corpus.h"

#include <fmt/format.h>

#include <chrono>
#include <filesystem>
#include <memory>
#include <optional>
#include <system_error>
#include <utility>

#include "corpus/job/corpus_translation.h"
#include "corpus/output/resumable_file.h"
#include "corpus/records/json_records.h"
#include "corpus/records/line_records.h"
#include "corpus/records/tsv_records.h"
#include "decoding/lines/line_reader.h"
#include "decoding/pages/page_reader.h"
#include "decoding/translation_notes.h"
#include "fuselage/base/error.h"
#include "fuselage/decoding/pivot_translator.h"
#include "tools/commands/translation/progress.h"
#include "tools/options/files.h"
#include "tools/options/job_facts.h"
#include "tools/options/model_command_options.h"

namespace fuselage {
namespace {

/// Rows with other fields are kept as a whole.
constexpr std::size_t kMaxRowBytes = std::size_t{64} << 20;

/// Where rows go as they are ready.
class PlainOutput : public TextOutput {
 public:
  explicit PlainOutput(OutputFile& file) : file_(file) {}
  void write(std::string_view rows, const TextState&) override { file_.write(rows); }
  void finish(const TextState&) override { file_.close(); }

 private:
  OutputFile& file_;
};

class Corpus {
 public:
  explicit Corpus(const CorpusRun& run);
  void translate();

 private:
  std::unique_ptr<RecordFormat> make_format();
  std::vector<CorpusText> make_texts();
  void add_job(std::vector<CorpusText>& texts, std::vector<std::string> inputs,
               const std::string& path, const JobFacts& facts);
  std::vector<std::string> inputs_of_shard() const;
  std::uint64_t total_bytes(const std::vector<CorpusText>& texts) const;
  void translate_through(CorpusTranslation& rows, const Translator::Sink& sink) const;

  const CorpusRun& run_;
  std::optional<PageReader> pages_;
  std::optional<OutputFile> output_;  ///< none: the outputs are files of a job
  std::vector<ResumableFile*> files_;
};

Corpus::Corpus(const CorpusRun& run) : run_(run) {
  if (run.corpus.has_fields() && run.pages.is_page())
    pages_.emplace(run.translator, run.pages.page());
}

std::unique_ptr<RecordFormat> Corpus::make_format() {
  const CorpusCommandOptions& corpus = run_.corpus;
  if (!corpus.tsv.empty()) return std::make_unique<TsvRecords>(corpus.tsv, corpus.added);
  if (corpus.jsonl.empty()) return std::make_unique<LineRecords>(run_.format);
  ReadPage read;
  if (pages_) read = [this](std::string text) { return pages_->read(std::move(text)); };
  return std::make_unique<JsonRecords>(corpus.jsonl, corpus.added, std::move(read));
}

void Corpus::add_job(std::vector<CorpusText>& texts, std::vector<std::string> inputs,
                     const std::string& path, const JobFacts& facts) {
  auto file = std::make_unique<ResumableFile>(
      path, ResumableFile::Options{
                .facts = with_inputs(facts, inputs),
                .resume = run_.corpus.resume,
                .interval = std::chrono::duration<double>(run_.corpus.checkpoint_seconds)});
  files_.push_back(file.get());
  texts.push_back({std::move(inputs), std::move(file)});
}

/// With a folder, whole files are shared out.
std::vector<std::string> Corpus::inputs_of_shard() const {
  std::vector<std::string> inputs;
  for (std::size_t i = 0; i < run_.inputs.size(); ++i)
    if (run_.corpus.shard.has(i)) inputs.push_back(run_.inputs[i]);
  return inputs;
}

std::vector<CorpusText> Corpus::make_texts() {
  for (const std::string& input : run_.inputs) check_readable(input);
  std::vector<CorpusText> texts;
  if (!run_.corpus.is_job()) {
    std::vector<std::string> read = run_.files_read;
    read.insert(read.end(), run_.inputs.begin(), run_.inputs.end());
    output_.emplace(run_.output, read);
    texts.push_back({run_.inputs, std::make_unique<PlainOutput>(*output_)});
    return texts;
  }
  const JobFacts facts = job_facts(run_.options, run_.files_read);
  if (run_.corpus.folder.empty()) {
    add_job(texts, run_.inputs, run_.output, facts);
    return texts;
  }
  std::error_code error;
  std::filesystem::create_directories(run_.corpus.folder, error);
  if (error)
    throw Error(fmt::format("cannot make the folder {}: {}", run_.corpus.folder, error.message()));
  JobFacts without_shard = facts;
  without_shard.erase("--shard");
  for (const std::string& input : inputs_of_shard())
    add_job(texts, {input}, run_.corpus.output_of(input), without_shard);
  return texts;
}

/// The size of all inputs; 0: unknown.
std::uint64_t Corpus::total_bytes(const std::vector<CorpusText>& texts) const {
  std::uint64_t total = 0;
  for (const CorpusText& text : texts)
    for (const std::string& input : text.inputs) {
      const auto size = check_readable(input);
      if (!size) return 0;
      total += *size;
    }
  return total;
}

void Corpus::translate() {
  const std::unique_ptr<RecordFormat> format = make_format();
  std::vector<CorpusText> texts = make_texts();
  TranslationNotes notes(run_.translator.options());
  Progress progress({.total_bytes = total_bytes(texts),
                     .quiet = run_.quiet || (output_ && output_->is_terminal()),
                     .unit = "words",
                     .price_per_hour = run_.corpus.price_per_hour,
                     .log_seconds = run_.corpus.progress_seconds});
  const auto count = [&](const DoneRow& row) {
    for (const Translation& translation : row.translations) notes.add(row.number, translation);
    progress.add_row(row.words, row.bytes_read);
  };
  CorpusTranslation rows(
      *format, std::move(texts),
      {.shard = run_.corpus.folder.empty() ? run_.corpus.shard : Shard{},
       .keep_bad_rows = run_.corpus.keep_bad_rows,
       .limit = run_.corpus.has_fields() ? RowReader::Limit{.bytes = kMaxRowBytes, .cut = false}
                                         : RowReader::Limit{.bytes = kMaxLineBytes, .cut = true}},
      count);
  std::unique_ptr<BeforeSignal> signals;
  if (!files_.empty())
    signals = std::make_unique<BeforeSignal>([this] {
      for (ResumableFile* file : files_) file->checkpoint();
    });
  const auto sink = [&](std::size_t, Translation&& translation) {
    rows.add(std::move(translation));
  };
  if (run_.second)
    translate_through(rows, sink);
  else
    run_.translator.translate(
        [&](std::string& line, LineGuide& guide) { return rows.next(line, guide); }, sink,
        [&](std::chrono::milliseconds timeout) { return rows.ready(timeout); });
  progress.finish();
  if (run_.quiet) return;
  for (const std::string& note : notes.notes()) print_note(note);
  if (rows.bad_rows() > 0)
    print_note(fmt::format("{} row{} could not be read and {} as {}", rows.bad_rows(),
                           rows.bad_rows() == 1 ? "" : "s", rows.bad_rows() == 1 ? "is" : "are",
                           rows.bad_rows() == 1 ? "it was" : "they were"));
}

/// Translates lines by both models, as many together as are there.
void Corpus::translate_through(CorpusTranslation& rows, const Translator::Sink& sink) const {
  constexpr std::size_t kMaxLines = 4096;
  const PivotTranslator pivot(run_.translator, *run_.second);
  std::size_t number = 0;
  for (bool more = true; more;) {
    std::vector<std::string> lines;
    while (lines.size() < kMaxLines &&
           (lines.empty() || rows.ready(std::chrono::milliseconds(0)))) {
      std::string line;
      LineGuide guide;
      more = rows.next(line, guide);
      if (!more) break;
      lines.push_back(std::move(line));
    }
    for (Translation& translation : pivot.translate(lines)) sink(number++, std::move(translation));
  }
}

}  // namespace

void translate_corpus(const CorpusRun& run) { Corpus(run).translate(); }

}  // namespace fuselage
