#include "tools/options/job_facts.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <set>
#include <string_view>
#include <system_error>
#include <utility>

#include "base/files/content_hash.h"
#include "corpus/input/input_file.h"
#include "fuselage/base/error.h"
#include "fuselage/base/version.h"

namespace fuselage {
namespace {

namespace fs = std::filesystem;

/// Options that change no translation, by their long names.
const std::set<std::string_view> kNeutral = {"--input",
                                             "--output",
                                             "--output-folder",
                                             "--resume",
                                             "--checkpoint-seconds",
                                             "--progress-seconds",
                                             "--price-per-hour",
                                             "--config",
                                             "--quiet",
                                             "--stats",
                                             "--memory",
                                             "--cpu-threads",
                                             "--threads-per-sentence",
                                             "--weights-cache",
                                             "--mini-batch",
                                             "--mini-batch-words",
                                             "--maxi-batch",
                                             "--maxi-batch-sort"};

/// The values as one text, paths without their folders.
std::string value_of(const CLI::Option& option) {
  std::vector<std::string> values = option.results();
  for (std::string& value : values) {
    std::error_code error;
    if (!value.empty() && fs::exists(value, error)) value = fs::path(value).filename().string();
  }
  return fmt::format("{}", fmt::join(values, " "));
}

std::string content_of(const fs::path& path) {
  constexpr std::size_t kBlock = std::size_t{1} << 20;
  std::ifstream file(path, std::ios::binary);
  if (!file) throw Error(fmt::format("cannot read {}", path.string()));
  ContentHash hash;
  std::string block(kBlock, '\0');
  while (file) {
    file.read(block.data(), kBlock);
    hash.add(block.data(), static_cast<std::size_t>(file.gcount()));
  }
  return hash.text();
}

/// The regular files among these, and in the folders among them.
std::set<fs::path> regular_files(const std::vector<std::string>& paths) {
  std::set<fs::path> files;
  for (const fs::path path : paths) {
    std::error_code error;
    if (fs::is_regular_file(path, error)) files.insert(path);
    if (!fs::is_directory(path, error)) continue;
    for (const fs::directory_entry& entry : fs::directory_iterator(path))
      if (entry.is_regular_file(error)) files.insert(entry.path());
  }
  return files;
}

}  // namespace

JobFacts job_facts(const Options& options, const std::vector<std::string>& files) {
  JobFacts facts{{"the version", std::string(version())}};
  for (const CLI::Option* option : options.app().get_options()) {
    const std::string& name = option->get_lnames().empty() ? "" : option->get_lnames().front();
    if (option->count() == 0 || name.empty() || kNeutral.contains("--" + name)) continue;
    facts["--" + name] = value_of(*option);
  }
  std::vector<std::pair<std::string, std::string>> contents;
  for (const fs::path& path : regular_files(files))
    contents.emplace_back(path.filename().string(), content_of(path));
  std::ranges::sort(contents);
  for (std::size_t i = 0; i < contents.size(); ++i)
    facts[fmt::format("file {} of model and options", i + 1)] =
        fmt::format("{} with the hash {}", contents[i].first, contents[i].second);
  return facts;
}

JobFacts with_inputs(JobFacts facts, const std::vector<std::string>& inputs) {
  facts["the number of inputs"] = fmt::format("{}", inputs.size());
  for (std::size_t i = 0; i < inputs.size(); ++i)
    if (const auto size = check_readable(inputs[i]))
      facts[fmt::format("the size of input {}", i + 1)] = fmt::format("{} bytes", *size);
  return facts;
}

}  // namespace fuselage
