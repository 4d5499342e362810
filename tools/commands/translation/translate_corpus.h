#pragma once

#include <string>
#include <vector>

#include "fuselage/decoding/output_format.h"
#include "fuselage/decoding/translator.h"
#include "tools/options/corpus_options.h"
#include "tools/options/options.h"
#include "tools/options/page_options.h"

namespace fuselage {

/// What `translate` does with rows of texts.
struct CorpusRun {
  const Options& options;
  const CorpusCommandOptions& corpus;
  const PageCommandOptions& pages;
  const OutputFormat& format;
  const std::vector<std::string>& inputs;
  const std::string& output;
  std::vector<std::string> files_read;  ///< of the model and the options, without inputs
  bool quiet;
  const Translator& translator;
  const Translator* second;  ///< translates what the first gives; null: none
};

/// Translates the rows of all inputs.
void translate_corpus(const CorpusRun& run);

}  // namespace fuselage
