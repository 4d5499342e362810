#include "tools/options/model_command_options.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <filesystem>
#include <span>
#include <system_error>
#include <utility>

#include "fuselage/base/error.h"
#include "tools/options/device_options.h"
#include "tools/options/files.h"
#include "tools/options/number_options.h"
#include "tools/options/validators.h"

namespace fuselage {
namespace {

/// Maximum of --cpu-threads.
constexpr std::size_t kMaxThreads = 1024;

std::vector<std::string> backend_names() {
  std::vector<std::string> names;
  for (const Backend* backend : all_backends()) names.emplace_back(backend->name());
  return names;
}

/// Throws Error with advice on how to give vocabularies, by options or, for a Marian model, by its
/// decoder configuration; and with the notes from loading, which may tell why there are none.
[[noreturn]] void refuse_without_vocabularies(const std::vector<std::string>& models,
                                              const std::vector<std::string>& notes) {
  std::string advice;
  for (const std::string& path : models) {
    std::error_code error;
    if (const std::string config = path + ".decoder.yml"; std::filesystem::exists(config, error))
      advice = fmt::format(", or its configuration with -c {}", config);
  }
  if (!notes.empty()) advice += fmt::format(" ({})", fmt::join(notes, "; "));
  throw Error(fmt::format(
      "{} brings no vocabularies; give them with -v SOURCE TARGET, the same file twice where both "
      "sides share one{}",
      fmt::join(models, ", "), advice));
}

/// Options of commands that a program has no use for.
constexpr std::string_view kHelpOptions[] = {"-h", "--help", "--version"};
constexpr std::string_view kOutputOptions[] = {"--input",
                                               "--output",
                                               "--train-sets",
                                               "--n-best",
                                               "--n-best-size",
                                               "--n-best-feature",
                                               "--word-scores",
                                               "--alignment",
                                               "--json",
                                               "--summary",
                                               "--text",
                                               "--html",
                                               "--text-language",
                                               "--through",
                                               "--stats",
                                               "--memory",
                                               "--quiet",
                                               "--shard",
                                               "--tsv",
                                               "--jsonl",
                                               "--added-field",
                                               "--keep-bad-rows",
                                               "--output-folder",
                                               "--resume",
                                               "--checkpoint-seconds",
                                               "--progress-seconds",
                                               "--price-per-hour"};

bool is_one_of(std::string_view name, std::span<const std::string_view> names) {
  return std::ranges::find(names, name) != names.end();
}

/// The same with a hint for a text, which an optional value takes.
CLI::Validator or_text(const CLI::App& app, const CLI::Validator& validator) {
  const std::string description = validator.get_description();
  return {[&app, validator](std::string& value) {
            const std::string problem = validator(value);
            return problem.empty() ? problem : problem + hint_of_text(app, value);
          },
          description};
}

/// For CLI11, which wants a range; the model decides.
constexpr int kMaxVocabularies = 100;

}  // namespace

bool is_for_command_line(std::string_view option) {
  return is_one_of(option, kHelpOptions) || is_one_of(option, kOutputOptions);
}

void print_note(std::string_view note) {
  write_diagnostic(fmt::format("fuselage: note: {}\n", note));
}

void ModelCommandOptions::add_model_to(Options& options, Texts texts) {
  CLI::App& app = options.app();
  options.begin_group(kModelGroup);
  models.add_to(app, "-m,--models,--model");
  CLI::Option* vocabs = app.add_option("-v,--vocabs", vocabularies.paths);
  vocabs->type_name("FILE");
  if (texts == Texts::pair)
    vocabs->expected(2, kMaxVocabularies)
        ->description(
            "Source and target vocabulary (.yml, .json, .spm, or a word a line); the same file "
            "twice for a shared one, and one for each text of several sources");
  else
    vocabs->expected(1, 2)->description("The vocabulary (.yml, .json, .spm, or a word a line)");
  app.add_option_function<std::vector<std::string>>(
         "--bpe",
         [this](const std::vector<std::string>& paths) {
           vocabularies.splitters = {paths.front(), paths.back()};
         },
         "BPE codes of subword-nmt: lines are split into subwords, and subwords joined; one file "
         "for both sides, or source and target")
      ->expected(1, 2)
      ->type_name("FILE");
  app.add_option("-c,--config", configs,
                 "YAML file with options by their long names, such as decoder.yml")
      ->type_name("FILE");
}

void ModelCommandOptions::add_languages_to(CLI::App& app) {
  app.add_option(
         "--source-language,--from", models.source_language,
         "Language of the text, for a model that translates between several, or to choose a "
         "bundled model: deu_Latn, de")
      ->type_name("CODE")
      ->default_str("the model's");
  app.add_option("--target-language,--to", models.target_language, "Language of the translation")
      ->type_name("CODE")
      ->default_str("the model's");
}

void ModelCommandOptions::add_scoring_to(CLI::App& app) {
  const auto set_normalize = [this](const std::string& text) {
    normalize = text.empty() ? 1.0f : static_cast<float>(parse_number(text).value());
  };
  app.add_option_function<std::string>(
         "-n,--normalize", set_normalize,
         "Divide scores by the length to the power of this; 1 without a value, and the "
         "model's own or 0 without the option")
      ->expected(0, 1)
      ->type_name("X")
      ->check(or_text(app, limits_of("normalize")));
  add_number(app, "--word-penalty", word_penalty, "Subtracted from the score per word",
             range_of("word-penalty"))
      ->default_str("the model's, or 0");
}

void ModelCommandOptions::add_running_to(Options& options) {
  options.begin_group(kTextGroup);
  add_text_options(options.app());
  options.begin_group(kSpeedGroup);
  add_speed_options(options.app());
  options.begin_group(kOptimizerGroup);
  add_optimizer_options(options.app(), compile);
  add_gemm_precision(options.app());
  add_frequency_option(options.app(), frequency);
  options.begin_group(kReportGroup);
  add_report_options(options.app());
  options.accept_without_effect();
}

void ModelCommandOptions::add_text_options(CLI::App& app) {
  app.add_option("-o,--output", output, "Where to write")->type_name("FILE")->capture_default_str();
  add_number(app, "--max-length", max_length,
             "Tokens that are read of a line, the end symbol counted; the rest is cut off",
             range_of("max-length"))
      ->default_str("the model's, or 1000");
  app.add_flag("--max-length-crop", max_length_crop,
               "No effect: longer lines are always cut, never dropped");
  app.add_flag("--strict", strict, "Lines that are too long or no valid UTF-8 are errors");
  app.add_flag("--no-spm-encode", no_spm_encode,
               "The input is split into pieces or subwords already");
  app.add_flag("--no-spm-decode", no_spm_decode, "Leave the output split into pieces or subwords");
  app.add_option("--glossary", vocabularies.glossaries,
                 "A regular expression of words that --bpe leaves whole; once for each")
      ->type_name("REGEX")
      ->expected(1)
      ->take_all();
}

void ModelCommandOptions::add_speed_options(CLI::App& app) {
  add_number(app, "--mini-batch", batches.mini_batch, "Most sentences in a batch",
             range_of("mini-batch"))
      ->default_str("the model's, or as is fastest");
  add_number(app, "--mini-batch-words", batches.mini_batch_words,
             "Most words in a batch, in place of sentences; 0: count sentences",
             range_of("mini-batch-words"))
      ->default_str("the model's, or 0");
  add_number(app, "--maxi-batch", batches.maxi_batch, "Batches that are read and sorted together",
             range_of("maxi-batch"))
      ->default_str("the model's, or as is fastest");
  const auto set_order = [this](const std::string& name) {
    batches.maxi_batch_sort = name == "src" ? MaxiBatchSort::src : MaxiBatchSort::none;
  };
  app.add_option_function<std::string>(
         "--maxi-batch-sort", set_order,
         "Order of sentences that are read together: by length (src), or as they come")
      ->type_name("ORDER")
      ->check(sort_orders())
      ->default_str("the model's, or src");
  add_number(app, "--cpu-threads", threads,
             "Threads that work on sentences, for each GPU if there are several; 0: one for "
             "each processor that the process may use, as far as its control group grants "
             "their time, and for a GPU two for a small model, one for a large one",
             {0, kMaxThreads});
  add_number(app, "--threads-per-sentence", compile.threads_per_sentence,
             "Processors that work on a batch together, each on columns of its own: a sentence "
             "takes less time, a text more",
             {1, kMaxThreads});
  CLI::Option* device = add_device_option(app, compile);
  add_gpu_options(app, compile);
  app.add_option("--backend", compile.backend,
                 "The back-end, in the place of --device; reference is slow")
      ->excludes(device)
      ->type_name("NAME")
      ->check(one_of(backend_names()))
      ->capture_default_str();
  app.add_option("--weights-cache", compile.weights_cache,
                 "Keep packed weights in files of this directory, from which later processes start "
                 "at once and which all that run share in memory")
      ->type_name("DIR");
}

void ModelCommandOptions::add_report_options(CLI::App& app) {
  app.add_flag("--stats", stats,
               "Tell at the end how many look-ups the tables of frequent words served");
  app.add_flag("--memory", memory, "Tell at the end where memory went");
  app.add_flag("--quiet", quiet, "No progress and no notes");
}

void ModelCommandOptions::add_gemm_precision(CLI::App& app) {
  app.add_option_function<std::string>(
         "--gemm-precision",
         [this](const std::string& name) { gemm_precision = gemm_precision_from_string(name); },
         "The precision as Bergamot and Firefox call it: the variants with Alpha quantize inputs "
         "of "
         "products by the multipliers of a calibrated file, the others do not use them")
      ->type_name("NAME")
      ->check(one_of(gemm_precision_names()))
      ->default_str("as the file is");
  // Flags in its place, of earlier versions of Bergamot.
  for (const std::string& name : gemm_precision_names())
    app.add_flag_function("--" + name,
                          [this, name](std::int64_t count) {
                            if (count > 0 && !gemm_precision)
                              gemm_precision = gemm_precision_from_string(name);
                          })
        ->group("");
}

void add_optimizer_options(CLI::App& app, CompileOptions& compile) {
  app.add_option(
         "--passes", compile.passes,
         "Optimizer passes: none, or with commas between all, names of passes and rules, and "
         "-NAME to leave one out")
      ->type_name("LIST")
      ->capture_default_str();
  add_precision_option(app, compile);
  const auto set_activations = [&compile](const std::string& name) {
    compile.activations = activations_from_string(name);
  };
  app.add_option_function<std::string>(
         "--activations", set_activations,
         "Accuracy of sigmoid and tanh: fast is to within 6e-5, table to within 1e-3")
      ->type_name("KIND")
      ->check(one_of(activations_names()))
      ->default_str(fmt::format("the model's, or {}", to_string(Activations::exact)));
  add_kv_cache_option(app, compile);
  app.add_flag("--exact", compile.exact, "Only optimizations that keep every bit of a result");
  add_memory_option(app, compile);
}

void add_kv_cache_option(CLI::App& app, CompileOptions& compile) {
  const auto set = [&compile](const std::string& name) {
    compile.kv_cache = kv_cache_from_string(name);
  };
  app.add_option_function<std::string>(
         "--kv-cache", set,
         "Numbers in which a transformer's decoder keeps keys and values; int8 takes about a "
         "quarter of their memory, and less time, most for long texts; not on a GPU")
      ->type_name("FORMAT")
      ->check(one_of(kv_cache_names()))
      ->default_str(fmt::format("the model's, or {}", to_string(KvCache::fp32)));
}

void add_precision_option(CLI::App& app, CompileOptions& compile) {
  // marian-decoder's option has two types, for parameters and for the optimizer of training.
  const std::string marian_fp32 = "float32";
  const auto set = [&compile, marian_fp32](const std::vector<std::string>& types) {
    if (types.size() > 1 && types[1] != marian_fp32)
      throw CLI::ValidationError("--precision", "a second type can only be float32");
    compile.precision = types[0] == marian_fp32 ? Precision::fp32 : precision_from_string(types[0]);
  };
  std::vector<std::string> names(precision_names().begin(), precision_names().end());
  names.push_back(marian_fp32);
  app.add_option_function<std::vector<std::string>>(
         "--precision", set,
         "Numbers in products with weights: stored is the type of each matrix; fp16 needs a GPU")
      ->expected(1, 2)
      ->type_name("FORMAT")
      ->check(one_of(std::move(names)))
      ->default_str("the model's, or fp32");
}

void add_memory_option(CLI::App& app, CompileOptions& compile) {
  add_number(app, "--precompute-memory", compile.precompute_memory,
             "Most memory for products with embeddings that are computed at load",
             range_of("precompute-memory"))
      ->type_name("MB");
}

void add_frequency_option(CLI::App& app, std::string& frequency) {
  app.add_option("--frequency", frequency,
                 "Words or pieces, the most frequent one first, or with counts: what tables hold "
                 "that are too large for a whole vocabulary (default: the first of the vocabulary)")
      ->type_name("FILE");
}

void add_score_formats(CLI::App& app, OutputFormat& format) {
  app.add_flag("--word-scores", format.word_scores, "Print the score of each word");
  app.add_flag("--json", format.json, "Print a JSON object for each line, with its scores");
}

void add_alignment_format(CLI::App& app, std::string& alignment) {
  const auto validate = [](const std::string& value) -> std::string {
    try {
      parse_alignment_format(value);
    } catch (const Error& error) {
      return error.what();
    }
    return "";
  };
  app.add_option("--alignment", alignment,
                 "Print the alignment: hard (without a value), soft, or pairs above a weight")
      ->expected(0, 1)
      ->check(or_text(app, {validate, ""}))
      ->type_name("FORM");
}

std::vector<std::string> describe_table_use(const std::vector<TableUse>& tables) {
  std::vector<std::string> notes;
  for (const TableUse& table : tables)
    notes.push_back(fmt::format("table of {} of {} words for {}: {:.1f} % of {} look-ups",
                                table.rows, table.entries, table.product,
                                table.lookups == 0 ? 0.0
                                                   : 100 * static_cast<double>(table.hits) /
                                                         static_cast<double>(table.lookups),
                                table.lookups));
  if (notes.empty()) notes.emplace_back("there are no tables of frequent words");
  return notes;
}

void ModelCommandOptions::parse_for_program(Options& options,
                                            const std::vector<std::string>& arguments,
                                            const Log& log) {
  for (const std::string& argument : arguments)
    if (is_one_of(argument, kHelpOptions))
      throw Error(fmt::format("{} is for the command line alone", argument));
  options.parse(arguments);
  for (const std::string_view name : kOutputOptions)
    if (const CLI::Option* option = options.app().get_option_no_throw(std::string(name));
        option != nullptr && option->count() > 0)
      throw Error(fmt::format(
          "{} is for the command line alone: it is about the command's input, output and reports",
          name));
  quiet = true;
  finish(options);
  if (log)
    for (const std::string& note : options.ignored()) log(note);
}

void ModelCommandOptions::finish(Options& options) {
  // The last file that sets an option counts, as on the command line.
  const std::vector<std::string> paths = configs;
  for (auto path = paths.rbegin(); path != paths.rend(); ++path)
    options.apply_config(*path, models.ignore_unknown);
  if (gemm_precision) {
    models.calibration = gemm_precision->calibration;
    if (!compile.precision) compile.precision = gemm_precision->precision;
  }
  if (!quiet)
    for (const std::string& note : options.ignored()) print_note(note);
  find_backend(compile.backend).check(compile);
}

Model ModelCommandOptions::load(Options& options) {
  NamedModel loaded = load_named_models(models, !vocabularies.paths.empty(), decided_by(options));
  files_read = std::move(loaded.files);
  files_read.insert(files_read.end(), vocabularies.paths.begin(), vocabularies.paths.end());
  files_read.insert(files_read.end(), vocabularies.splitters.begin(), vocabularies.splitters.end());
  files_read.insert(files_read.end(), configs.begin(), configs.end());
  if (!frequency.empty()) files_read.push_back(frequency);
  vocabularies.sentencepiece_encode = !no_spm_encode;
  vocabularies.sentencepiece_decode = !no_spm_decode;
  if (vocabularies.paths.empty() && loaded.model.vocabularies.empty())
    refuse_without_vocabularies(models.paths, loaded.model.notes);
  return std::move(loaded.model);
}

}  // namespace fuselage
