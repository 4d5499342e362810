#include "bench/search_task.h"

#include <fmt/format.h>

#include <algorithm>
#include <fstream>
#include <iterator>
#include <sstream>

#include "decoding/lines/vocabulary_pair.h"
#include "fuselage/base/error.h"

namespace fuselage {

SearchTask read_search_task(const Model& model, const std::string& text, std::int32_t beam,
                            std::size_t batch, std::size_t sentences) {
  const VocabularyPair vocabularies = load_vocabulary_pair(model, {.paths = model.vocabularies});
  SearchTask task;
  task.search = {.beam_size = beam,
                 .normalize = 0.6f,
                 .end_id = vocabularies.target->end_id(),
                 .suppressed = {vocabularies.target->unknown_id()}};
  std::ifstream input(text);
  if (!input) throw Error(fmt::format("{}: cannot be read", text));
  std::vector<WordIds> encoded;
  for (std::string line; encoded.size() < sentences && std::getline(input, line);) {
    encoded.push_back(vocabularies.source->encode(line));
    if (encoded.back().size() < 2) encoded.pop_back();
    std::istringstream blanks(line);
    task.words += static_cast<std::size_t>(std::distance(std::istream_iterator<std::string>(blanks),
                                                         std::istream_iterator<std::string>()));
  }
  std::stable_sort(encoded.begin(), encoded.end(),
                   [](const WordIds& a, const WordIds& b) { return a.size() > b.size(); });
  for (std::size_t i = 0; i < encoded.size(); i += batch)
    task.batches.emplace_back(
        encoded.begin() + static_cast<std::ptrdiff_t>(i),
        encoded.begin() + static_cast<std::ptrdiff_t>(std::min(i + batch, encoded.size())));
  return task;
}

}  // namespace fuselage
