#include "tools/options/probe_options.h"

#include <fmt/format.h>

#include "decoding/line_reader.h"
#include "fuselage/base/error.h"
#include "fuselage/decoding/self_check.h"
#include "tools/options/input_files.h"

namespace fuselage {

std::vector<std::string> read_probe_lines(const std::string& path) {
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

void ProbeOptions::add_to(CLI::App& app) {
  CLI::Option* lines =
      app.add_option("--probes", text,
                     "Source text whose lines are the probe sentences of fuselage check")
          ->type_name("FILE")
          ->default_str("the model's own, or random words");
  app.add_flag("--no-probes", none, "Store no probe sentences")->excludes(lines);
}

}  // namespace fuselage
