#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "fuselage/backends/compile.h"
#include "fuselage/decoding/batch_options.h"
#include "fuselage/decoding/output_format.h"
#include "fuselage/decoding/vocabulary_options.h"
#include "models/marian/gemm_precision.h"
#include "tools/options/memory_report.h"
#include "tools/options/named_models.h"

namespace fuselage {

/// Titles of option groups that several commands have.
inline constexpr const char* kTextGroup = "Input and output";
inline constexpr const char* kModelGroup = "Model";
inline constexpr const char* kSearchGroup = "Search";
inline constexpr const char* kSpeedGroup = "Speed and memory";
inline constexpr const char* kOptimizerGroup = "Optimizer and numbers";
inline constexpr const char* kReportGroup = "Reports";

/// The options common to all commands that run a model.
struct ModelCommandOptions {
  ModelChoice models;
  std::vector<std::string> configs;
  VocabularyPairOptions vocabularies;
  bool no_spm_encode = false, no_spm_decode = false;
  CompileOptions compile;
  std::optional<GemmPrecision> gemm_precision;
  std::string frequency;
  bool stats = false;
  bool memory = false;
  std::string output = "stdout";
  bool quiet = false;
  bool strict = false;
  std::optional<std::size_t> max_length;
  bool max_length_crop = false;
  std::size_t threads = 0;
  BatchOptions batches;
  std::optional<float> normalize, word_penalty;
  std::vector<std::string> files_read;  ///< set by load: model, vocabularies and configurations

  /// The vocabularies of a model: of a source and a target, or of one text.
  enum class Texts : std::uint8_t { pair, one };

  /// Registers the options for model and vocabularies.
  void add_model_to(Options& options, Texts texts = Texts::pair);
  /// Registers the options for the languages of a text and its translation.
  void add_languages_to(CLI::App& app);
  /// Registers the options for the computation of scores.
  void add_scoring_to(CLI::App& app);
  /// Registers the options for input, output, speed and reports.
  void add_running_to(Options& options);
  /// Parses the arguments that a program gives in place of a command line, and finishes them.
  /// Throws Error for options of input, output and reports.
  void parse_for_program(Options& options, const std::vector<std::string>& arguments,
                         const Log& log);
  /// Reads the configuration files and combines and checks the options.
  void finish(Options& options);
  /// Loads the model or the ensemble, by default the bundled model.
  Model load(Options& options);
  /// Sets the members that the options of Translator, Scorer and Generator have in common.
  template <typename RunOptions>
  void apply_to(RunOptions& run) const {
    run.compile = compile;
    run.vocabularies = vocabularies;
    run.frequency = frequency;
    run.batches = batches;
    run.max_length = max_length;
    run.normalize = normalize;
    run.word_penalty = word_penalty;
    run.threads = threads;
    run.strict = strict;
  }
  /// The same of Translator and Scorer.
  template <typename RunOptions>
  void apply_languages_to(RunOptions& run) const {
    run.source_language = models.source_language;
    run.target_language = models.target_language;
  }

 private:
  void add_text_options(CLI::App& app);
  void add_speed_options(CLI::App& app);
  void add_gemm_precision(CLI::App& app);
  void add_report_options(CLI::App& app);
};

/// Whether an option of a command is about its input, output and reports, so that programs cannot
/// give it.
bool is_for_command_line(std::string_view option);

/// Registers the options of the optimizer.
void add_optimizer_options(CLI::App& app, CompileOptions& compile);

/// Registers the option for the precision of products.
void add_precision_option(CLI::App& app, CompileOptions& compile);

/// Registers the option for the type of keys and values.
void add_kv_cache_option(CLI::App& app, CompileOptions& compile);

/// Registers the option for the memory limit of precomputed tables.
void add_memory_option(CLI::App& app, CompileOptions& compile);

/// Registers the options for the format of printed scores.
void add_score_formats(CLI::App& app, OutputFormat& format);

/// Registers the option for the format of alignments, a text for parse_alignment_format.
void add_alignment_format(CLI::App& app, std::string& alignment);

/// Registers the option for the path of a frequency list.
void add_frequency_option(CLI::App& app, std::string& frequency);

/// Notes for --stats: the share of look-ups that the tables of frequent rows served.
std::vector<std::string> describe_table_use(const std::vector<TableUse>& tables);

/// Prints "fuselage: note: …" on standard error.
void print_note(std::string_view note);

/// Prints the notes of --stats and --memory for a Translator, Scorer or Generator.
template <typename Runner>
void print_use(const ModelCommandOptions& options, const Runner& runner) {
  if (options.quiet) return;
  if (options.stats)
    for (const std::string& note : describe_table_use(runner.table_use())) print_note(note);
  if (options.memory)
    for (const std::string& note : describe_memory(runner.memory(), process_memory()))
      print_note(note);
}

}  // namespace fuselage
