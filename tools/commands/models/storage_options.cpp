#include "tools/commands/models/storage_options.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <string_view>

#include "base/name_pattern.h"
#include "base/suggest.h"
#include "fuselage/base/error.h"
#include "fuselage/passes/precision/quantize.h"
#include "tools/options/number_options.h"
#include "tools/options/validators.h"

namespace fuselage {
namespace {

constexpr std::array<const char*, 3> kFits = {"largest", "fixed", "fitted"};

/// Names of what matrices are stored for: the precisions of products, fewer bits of int4, and
/// integers of 4 bits for products in int8.
constexpr std::array<std::string_view, 10> kNames = {
    "fp32", "bf16", "int16", "int8", "int4", "int3", "int2", "int1", "int4-log", "int4-linear"};

StoredPrecision stored_precision(std::string_view name) {
  find_name("precision of stored matrices", name, kNames);
  StoredPrecision stored{.name = std::string(name)};
  if (name == "int3" || name == "int2" || name == "int1") {
    stored.precision = Precision::int4;
    stored.bits = name.back() - '0';
  } else if (name == "int4-linear") {
    stored.linear = true;
  } else {
    stored.precision = precision_from_string(name);
  }
  return stored;
}

/// Whether the name of a precision leaves its bits to --bits.
bool takes_bits(const StoredPrecision& stored) { return stored.name.starts_with("int4"); }

std::string some_of(const std::vector<std::string>& names) {
  constexpr std::size_t kMaxNames = 8;
  const auto end = names.begin() + static_cast<std::ptrdiff_t>(std::min(kMaxNames, names.size()));
  return fmt::format("{}{}", fmt::join(names.begin(), end, ", "), end == names.end() ? "" : ", …");
}

/// The end of a message about a pattern that no matrix matches.
std::string advice(const std::string& pattern, const std::vector<std::string>& matrices,
                   const Model& model) {
  const bool names_vectors =
      std::any_of(model.weights.begin(), model.weights.end(),
                  [&](const auto& weight) { return matches_pattern(pattern, weight.first); });
  if (names_vectors) return ": it matches vectors only, which stay fp32";
  std::string plain = pattern;
  std::erase_if(plain, [](char c) { return c == '*' || c == '?'; });
  const std::vector<std::string_view> names(matrices.begin(), matrices.end());
  const std::string nearest = did_you_mean(plain, names);
  return nearest.empty() ? fmt::format("; it has {}", some_of(matrices)) : nearest;
}

}  // namespace

void StorageOptions::add_to(CLI::App& app) {
  const auto set = [this](const std::string& name) { precision_ = stored_precision(name); };
  app.add_option_function<std::string>(
         "--precision", set,
         "What matrices are stored for: products in bf16, int16, int8, int4 or int4-log; "
         "the default when the model is run. int3, int2 and int1 are int4 in a file of fewer bits, "
         "int4-linear is int8 in a file of 4 bits")
      ->type_name("FORMAT")
      ->check(one_of(std::vector<std::string>(kNames.begin(), kNames.end())))
      ->default_str(precision_.name);
  app.add_option("--precision-of", patterns_,
                 "The same for matrices by the names of their parameters, as in "
                 "'Wemb=int8,decoder_*=int3': the first pattern that a name matches counts, else "
                 "--precision; * is any characters, ? is one, and fp32 is no fewer bits. "
                 "When the model is run, each product is in the type of its matrix")
      ->type_name("PATTERN=FORMAT,...");
  add_number(app, "--bits", bits_, "With int4: bits of a number, one of them its sign", {1, 4});
  app.add_option("--fit", fit_,
                 "With int4, the largest level: the largest magnitude, the same for all, or fitted "
                 "to the least squared error")
      ->type_name("WAY")
      ->check(one_of({kFits.begin(), kFits.end()}))
      ->capture_default_str();
  add_number(app, "--fixed-scale", fixed_scale_, "With --fit fixed: that level",
             {0, 1e30, false, true});
  app.add_option("--scales", scales_, "With int4: a scale for each column or for a whole matrix")
      ->type_name("WHICH")
      ->check(one_of({"column", "tensor"}))
      ->capture_default_str();
}

void StorageOptions::read_patterns() {
  choices_.clear();
  for (std::string_view rest = patterns_; !rest.empty();) {
    const std::size_t comma = std::min(rest.find(','), rest.size());
    const std::string_view item = rest.substr(0, comma);
    const std::size_t equals = item.rfind('=');
    if (equals == std::string_view::npos || equals == 0)
      throw Error(
          fmt::format("--precision-of: {} is not PATTERN=FORMAT; write for example Wemb=int8",
                      in_quotes(item)));
    StoredPrecision stored;
    try {
      stored = stored_precision(item.substr(equals + 1));
    } catch (const Error& error) {
      throw Error(fmt::format("--precision-of: {}: {}", in_quotes(item), error.what()));
    }
    choices_.push_back({std::string(item.substr(0, equals)), std::move(stored)});
    rest.remove_prefix(std::min(comma + 1, rest.size()));
  }
}

std::vector<StoredPrecision> StorageOptions::all_precisions() const {
  std::vector<StoredPrecision> all;
  for (const Choice& choice : choices_) all.push_back(choice.precision);
  all.push_back(precision_);
  return all;
}

void StorageOptions::expect_options_of_short_numbers(Options& options) const {
  const std::vector<StoredPrecision> all = all_precisions();
  const bool any = std::ranges::any_of(all, &StoredPrecision::short_numbers);
  const bool linear = std::ranges::any_of(all, &StoredPrecision::linear);
  for (const char* option : {"--bits", "--fit", "--scales", "--fixed-scale"})
    if (!any && options.given(option))
      throw Error(fmt::format("{} is about 4-bit numbers, not {}; give --precision int4", option,
                              precision_.name));
  if (options.given("--bits") && std::ranges::none_of(all, takes_bits))
    throw Error(fmt::format(
        "--bits is for int4, int4-log and int4-linear; {} is the number of its bits already",
        precisions()));
  if (options.given("--fixed-scale") && fit_ != "fixed")
    throw Error(fmt::format("--fixed-scale is for --fit fixed, not {}", fit_));
  if (options.given("--scales") && fit_ == "fixed")
    throw Error("--scales says which scales are found, but --fit fixed gives them");
  if (linear && fit_ == "fixed")
    throw Error("--fit fixed gives a level of int4, not of int4-linear; give --fit largest");
  if (linear && bits_ == 1)
    throw Error("a number of int4-linear has 2 to 4 bits, since one is its sign");
  logarithmic_quantizer({.bits = bits_}, fit_).verify();
}

void StorageOptions::verify(Options& options) {
  read_patterns();
  if (options.given("--precision-of") && choices_.empty())
    throw Error("--precision-of is empty; write for example Wemb=int8");
  const std::vector<StoredPrecision> all = all_precisions();
  if (!choices_.empty() && std::any_of(all.begin(), all.end(), [](const StoredPrecision& stored) {
        return stored.precision == Precision::int4_log;
      }))
    throw Error(
        "int4-log is about the rows of all products, so it cannot be a precision of some matrices; "
        "give int4, which is stored in the same way");
  if (choices_.empty() && precision_.precision == Precision::fp32)
    throw Error("with --precision fp32 alone nothing is stored in fewer bits; give --precision-of");
  expect_options_of_short_numbers(options);
  if (takes_bits(precision_)) precision_.bits = bits_;
  for (Choice& choice : choices_)
    if (takes_bits(choice.precision)) choice.precision.bits = bits_;
}

void StorageOptions::expect_used(const Model& model) const {
  if (choices_.empty()) return;
  const std::vector<std::string> names = matrix_names(model);
  std::vector<std::string> left = names;
  for (const Choice& choice : choices_) {
    const auto matches = [&](const std::string& name) {
      return matches_pattern(choice.pattern, name);
    };
    if (std::none_of(names.begin(), names.end(), matches))
      throw Error(fmt::format("--precision-of: no matrix of the model matches {}{}",
                              in_quotes(choice.pattern), advice(choice.pattern, names, model)));
    if (std::erase_if(left, matches) == 0)
      throw Error(fmt::format(
          "--precision-of: all matrices that match {} match a pattern before it; put it first",
          in_quotes(choice.pattern)));
  }
}

Precision StorageOptions::run_precision() const {
  return choices_.empty() ? precision_.precision : Precision::stored;
}

std::string StorageOptions::precisions() const {
  std::vector<std::string> names;
  for (const StoredPrecision& stored : all_precisions())
    if (std::find(names.begin(), names.end(), stored.name) == names.end())
      names.push_back(stored.name);
  return fmt::format("{}", fmt::join(names, " and "));
}

std::vector<std::string> StorageOptions::fits() const {
  const std::vector<StoredPrecision> all = all_precisions();
  const bool any = std::any_of(all.begin(), all.end(),
                               [](const StoredPrecision& stored) { return stored.logarithmic(); });
  return {kFits.begin(), any ? kFits.end() : kFits.begin()};
}

const StoredPrecision& StorageOptions::precision_of(const std::string& name) const {
  for (const Choice& choice : choices_)
    if (matches_pattern(choice.pattern, name)) return choice.precision;
  return precision_;
}

Quantizer StorageOptions::logarithmic_quantizer(const StoredPrecision& stored,
                                                std::string_view fit) const {
  Quantizer quantizer = weight_quantizer(Precision::int4);
  quantizer.bits = stored.bits;
  if (fit == "fixed") quantizer.scale = fixed_scale_ / static_cast<float>(quantizer.largest);
  if (fit == "largest") quantizer.fit = ScaleFit::largest;
  return quantizer;
}

MatrixStorage StorageOptions::linear_storage(const StoredPrecision& stored) const {
  return {.quantizer = Quantizer{.largest = (1 << (stored.bits - 1)) - 1},
          .one_scale = scales_ == "tensor",
          .fits_integers = fit_ == "fitted"};
}

MatrixStorage StorageOptions::storage_of(const std::string& name, bool alternatives) const {
  const StoredPrecision& stored = precision_of(name);
  if (stored.precision == Precision::fp32) return {.floats = DType::f32};
  if (stored.precision == Precision::bf16) return {};
  if (stored.linear) return linear_storage(stored);
  if (!stored.logarithmic()) return {.quantizer = weight_quantizer(stored.precision)};
  MatrixStorage storage{.quantizer = logarithmic_quantizer(stored, fit_),
                        .one_scale = scales_ == "tensor"};
  if (alternatives)
    for (const char* fit : kFits)
      storage.alternatives.push_back(logarithmic_quantizer(stored, fit));
  return storage;
}

}  // namespace fuselage
