#include "decoding/lines/word_ranks.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <string_view>
#include <unordered_map>

#include "base/files/compression.h"
#include "fuselage/base/error.h"
#include "text/words/frequency_list.h"

namespace fuselage {
namespace {

/// The vocabulary of each vocabulary domain that word maps of source or target tokens lead to.
std::map<DomainId, const Vocabulary*> vocabularies_of(const Graph& graph,
                                                      const VocabularyPair& pair) {
  std::map<DomainId, const Vocabulary*> found;
  const std::vector<MapId> texts = source_texts(graph);
  for (std::size_t i = 0; i < texts.size(); ++i) {
    const bool own = i > 0 && i <= pair.further_sources.size();
    found.emplace(graph.map(texts[i]).to,
                  own ? pair.further_sources[i - 1].get() : pair.source.get());
  }
  for (std::uint32_t i = 0; i < graph.map_count(); ++i) {
    const RowMap& map = graph.map(MapId{i});
    if (map.kind == MapKind::word && graph.domain(map.from).kind != DomainKind::source)
      found.emplace(map.to, pair.target.get());
  }
  return found;
}

struct Ranking {
  Tensor rank;             ///< i32 per entry
  std::size_t listed = 0;  ///< number of words of the list that are entries
};

Ranking rank_entries(const Vocabulary& vocabulary, std::int64_t size,
                     const std::vector<std::string>& words) {
  std::unordered_map<std::string_view, WordId> ids;
  const auto limit = static_cast<WordId>(std::min<std::int64_t>(vocabulary.size(), size));
  for (WordId id = 0; id < limit; ++id) ids.emplace(vocabulary.word(id), id);

  Ranking ranking{.rank = Tensor(DType::i32, {size})};
  auto* rank = ranking.rank.mutable_data<std::int32_t>();
  std::fill_n(rank, size, -1);
  std::int32_t next = 0;
  const auto append = [&](WordId id) {
    if (rank[id] < 0) rank[id] = next++;
  };
  if (vocabulary.end_id() < limit) append(vocabulary.end_id());
  for (const std::string& word : words) {
    const auto found = ids.find(word);
    if (found == ids.end()) continue;
    ++ranking.listed;
    append(found->second);
  }
  for (std::int64_t id = 0; id < size; ++id) append(static_cast<WordId>(id));
  return ranking;
}

/// A name that no weight has yet.
std::string unused_name(const TensorMap& weights, const std::string& base) {
  std::string name = base;
  for (int i = 2; weights.contains(name); ++i) name = fmt::format("{}.{}", base, i);
  return name;
}

}  // namespace

RankWeights add_word_ranks(Model& model, const VocabularyPair& vocabularies,
                           const std::string& path, std::vector<std::string>& notes) {
  const std::vector<std::string> words =
      parse_frequency_list(read_text(path, kMaxFrequencyListBytes), path);
  RankWeights ranks;
  std::size_t listed = 0;
  for (const auto& [id, vocabulary] : vocabularies_of(model.graph, vocabularies)) {
    const Domain& domain = model.graph.domain(id);
    Ranking ranking = rank_entries(*vocabulary, domain.size, words);
    listed += ranking.listed;
    if (ranking.listed < words.size())
      notes.push_back(fmt::format("{}: {} of {} words are not in the model's vocabulary '{}'", path,
                                  words.size() - ranking.listed, words.size(), domain.name));
    const std::string name = unused_name(model.weights, "rank." + domain.name);
    model.weights.emplace(name, std::move(ranking.rank));
    ranks.emplace(domain.name, name);
  }
  if (listed == 0)
    throw Error(fmt::format(
        "{}: none of its {} words is in a vocabulary of the model; give words or pieces "
        "as the vocabulary has them",
        path, words.size()));
  return ranks;
}

}  // namespace fuselage
