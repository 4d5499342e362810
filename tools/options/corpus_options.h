#pragma once

#include <optional>
#include <string>
#include <vector>

#include "corpus/job/shard.h"
#include "fuselage/decoding/output_format.h"
#include "fuselage/decoding/translator.h"
#include "tools/options/options.h"
#include "tools/options/page_options.h"

namespace fuselage {

/// The options of `translate` for large texts: parts of them, rows with other fields, and outputs
/// that a later process goes on with.
struct CorpusCommandOptions {
  Shard shard;
  std::string tsv, jsonl;  ///< a column, a field; empty: rows are lines to translate
  std::string added = "translation";
  bool keep_bad_rows = false;
  std::string folder;
  bool resume = false;
  double checkpoint_seconds = 30, progress_seconds = 0, price_per_hour = 0;

  void add_to(CLI::App& app);

  /// Whether outputs are written aside, and can be gone on with.
  bool is_job() const { return resume || !folder.empty(); }

  /// Whether rows have more than a line to translate.
  bool has_fields() const { return !tsv.empty() || !jsonl.empty(); }

  /// Where the translation of an input goes.
  std::string output_of(const std::string& input) const;

  /// Throws Error for --tsv without a column, marian-decoder's flag, where lines have no fields: of
  /// `translator`'s guides, or of several texts that the model reads.
  void expect_column(Options& options, const TranslatorOptions& translator,
                     std::size_t source_texts) const;

  /// Throws Error for options that contradict each other.
  void expect_fitting(Options& options, const OutputFormat& format,
                      const TranslatorOptions& translator, const PageCommandOptions& pages,
                      const std::vector<std::string>& inputs, const std::string& output) const;
};

}  // namespace fuselage
