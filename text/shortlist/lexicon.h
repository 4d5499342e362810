#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "text/shortlist/lexical_table.h"
#include "text/vocabulary.h"

namespace fuselage {

/// A sentence and its translation, without end symbols.
struct SentencePair {
  std::vector<WordId> source, target;
};

/// A target word, a source word, and the probability of the first given the second.
struct LexiconEntry {
  WordId target = 0, source = 0;
  double probability = 0;
};

struct LexiconOptions {
  int iterations = 5;       ///< of expectation-maximization, for each direction
  double threshold = 1e-7;  ///< entries with a lower probability are left out
};

/// Learns the probabilities from parallel text. Both directions are IBM model 1 (Brown et al. 1993,
/// The Mathematics of Statistical Machine Translation, section 4.1) with the prior for the diagonal
/// of Dyer et al. 2013 (A Simple, Fast, and Effective Reparameterization of IBM Model 2). The
/// probabilities count links with the product of both directions' posteriors (Liang et al. 2006,
/// Alignment by Agreement). Entries are in order of the source word, likely ones first. Time is
/// linear in the sum of the products of the lengths, memory in the number of distinct pairs of
/// words that occur in one sentence pair.
std::vector<LexiconEntry> learn_lexicon(std::span<const SentencePair> pairs,
                                        const LexiconOptions& options = {});

/// Lines of a target word, a source word and a probability, the form of parse_lexical_text.
std::string print_lexical_text(std::span<const LexiconEntry> entries, const LexicalSides& sides);

/// Marian's binary form with its limits, the form of parse_lexical_binary.
std::string print_lexical_binary(std::span<const LexiconEntry> entries, const LexicalSides& sides,
                                 const LexicalLimits& limits);

}  // namespace fuselage
