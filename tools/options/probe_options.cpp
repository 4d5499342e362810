#include "tools/options/probe_options.h"

#include <fmt/format.h>

#include <utility>

#include "decoding/lines/line_reader.h"
#include "fuselage/base/error.h"
#include "fuselage/decoding/self_check.h"
#include "tools/options/input_files.h"

namespace fuselage {
namespace {

std::vector<std::string> read_lines(const std::string& path) {
  InputFiles input({path});
  std::vector<std::string> lines;
  for (std::string line; read_line(input.stream(), line);) {
    if (lines.size() == kMaxProbeLines)
      throw Error(fmt::format("{} has more than {} lines; give fewer probe sentences", path,
                              kMaxProbeLines));
    lines.push_back(line);
  }
  if (lines.empty()) throw Error(fmt::format("{} has no lines; give probe sentences", path));
  return lines;
}

}  // namespace

CLI::Option* ProbeOptions::add_texts_to(CLI::App& app, const std::string& fallback) {
  return app
      .add_option("--probes", texts,
                  "A source text whose lines are the probe sentences, and its translation if there "
                  "is one, which tells whether the vocabularies are the model's")
      ->expected(1, 2)
      ->type_name("FILE")
      ->default_str(fallback);
}

std::vector<std::string> ProbeOptions::make(Model& model,
                                            const std::vector<std::string>& vocabularies) const {
  std::vector<std::vector<std::string>> lines;
  for (const std::string& path : texts) lines.push_back(read_lines(path));
  lines.resize(2);
  model.probes = make_probes(model, lines[0], {.paths = vocabularies});
  if (lines[1].empty()) return {};
  const double gain = gain_from_source(model, lines[0], lines[1], {.paths = vocabularies});
  if (gain >= kLeastGain) return {};
  return {fmt::format(
      "the translations in {} are hardly more likely after their own source lines than after other "
      "ones (log-probability {:+.2f} a word, less than {:+g}); the vocabularies or the languages "
      "may be those of another model",
      texts[1], gain, kLeastGain)};
}

}  // namespace fuselage
