#pragma once

#include <string>
#include <vector>

#include "fuselage/decoding/output_format.h"
#include "fuselage/decoding/page_translator.h"
#include "tools/options/options.h"

namespace fuselage {

/// The options of `translate` for whole documents, and for a second model.
struct PageCommandOptions {
  bool text = false, html = false;
  std::string language;
  std::string through;  ///< path of the model that translates what the first one gives; empty: none

  void add_to(CLI::App& app);

  /// Whether the input is one document.
  bool is_page() const { return text || html; }

  /// For PageTranslator.
  PageOptions page() const;

  /// Throws Error for options of lines, and for several documents.
  void expect_fitting(const OutputFormat& format, const TranslatorOptions& options,
                      const std::vector<std::string>& inputs) const;

 private:
  void expect_page(const OutputFormat& format, const TranslatorOptions& options) const;
};

/// The bytes of a document, a file or standard input, expanded if its name ends in .gz or .zst.
/// Throws Error for more than kMaxPageBytes bytes, and if it cannot be read.
std::string read_page(const std::string& path);

/// The options of the second model: those of the first but what is of its languages.
TranslatorOptions options_of_second(TranslatorOptions options);

}  // namespace fuselage
