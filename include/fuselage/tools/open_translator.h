#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "fuselage/base/api.h"
#include "fuselage/base/log.h"
#include "fuselage/decoding/scorer.h"
#include "fuselage/decoding/translator.h"

namespace FUSELAGE_API fuselage {

/// What a program asks of translations or scores, in place of the command's options for its output.
struct OpenOptions {
  std::int32_t n_best = 1;    ///< as TranslatorOptions::n_best
  bool alignment = false;     ///< as TranslatorOptions::alignment
  bool model_scores = false;  ///< as TranslatorOptions::model_scores
  bool guided = false;        ///< as TranslatorOptions::guided
  Log log = {};               ///< as TranslatorOptions::log; also notes on configuration files
};

/// The Translator of `fuselage translate` with these arguments, as {"-m", "model", "-b", "4"}: for
/// programs with options of the command's names. Throws Error as the command does, and for options
/// of its input, output and reports.
Translator open_translator(const std::vector<std::string>& arguments,
                           const OpenOptions& options = {});

/// The Scorer of `fuselage score`.
Scorer open_scorer(const std::vector<std::string>& arguments, const OpenOptions& options = {});

}  // namespace fuselage
