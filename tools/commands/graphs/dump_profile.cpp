#include "tools/commands/graphs/dump_profile.h"

#include <fmt/format.h>

#include <algorithm>
#include <string>

#include "decoding/lines/line_encoder.h"
#include "decoding/lines/line_reader.h"
#include "fuselage/base/error.h"
#include "tools/options/input_files.h"

namespace fuselage {

ProfileInput read_profile_input(const Model& model, const VocabularyPairOptions& vocabularies,
                                const std::string& path, std::int32_t beam_size) {
  const VocabularyPair pair = load_vocabulary_pair(model, vocabularies);
  expect_one_text(pair, "a profile");
  ProfileInput input;
  input.search = {.beam_size = beam_size,
                  .end_id = pair.target->end_id(),
                  .suppressed = {pair.target->unknown_id()}};
  const std::vector<WordId>& control = pair.target->control_ids();
  input.search.suppressed.insert(input.search.suppressed.end(), control.begin(), control.end());
  const LineEncoder encoder(*pair.source, {.right_left = model.right_left});
  InputFiles file({path});
  std::string line;
  for (std::size_t number = 0; read_line(file.stream(), line); ++number)
    if (EncodedLine encoded = encoder.encode(line, number); !encoded.empty())
      input.sentences.push_back(std::move(encoded.words));
  if (input.sentences.empty()) throw Error(fmt::format("{} has no line to translate", path));
  return input;
}

void run_profile(const Executable& executable, const ProfileInput& input, std::size_t mini_batch) {
  BeamSearch search(executable, input.search);
  const std::span<const WordIds> sentences(input.sentences);
  for (std::size_t at = 0; at < sentences.size(); at += mini_batch)
    search.search(sentences.subspan(at, std::min(mini_batch, sentences.size() - at)));
}

}  // namespace fuselage
