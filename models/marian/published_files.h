#pragma once

#include <string>
#include <vector>

namespace fuselage {

/// The part that each file of a directory of published files has in a model. All are names without
/// a folder; "" or an empty list: there is no such file.
struct PublishedFiles {
  /// A configuration of marian-decoder or of Amun, which then names the models.
  std::string configuration;
  std::string model;                      ///< .npz or .bin
  std::vector<std::string> vocabularies;  ///< source and target
  /// SentencePiece models of source and target (source.spm, target.spm), which split text whose
  /// words have their ids in another file.
  std::vector<std::string> splitters;
  std::string shortlist;
  std::vector<std::string> notes;
};

/// Finds the parts by the names of the files, as they are published by Firefox and Bergamot
/// (model.PAIR.….bin, lex.….PAIR.s2t.bin, vocab.PAIR.spm or srcvocab and trgvocab), OPUS-MT
/// (decoder.yml, source.spm, target.spm, a model and a vocabulary .yml), Marian's training
/// (….decoder.yml), Nematus (a .npz and its .json) and Amun (config.yml). The names may end with
/// .gz or .zst; of a file in two forms the plain one counts. `directory` is for messages. Throws
/// Error with the names where two files claim one part, and for a directory without a model.
PublishedFiles find_published_files(const std::vector<std::string>& names,
                                    const std::string& directory);

/// The same for the files of `directory` itself. Throws Error if it cannot be read, or has more
/// than 10,000 entries.
PublishedFiles find_published_files(const std::string& directory);

}  // namespace fuselage
