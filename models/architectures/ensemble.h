#pragma once

#include <string>
#include <vector>

#include "models/model.h"

namespace fuselage {

/// A model of an ensemble.
struct EnsembleMember {
  Model model;
  double weight = 1;  ///< of its log-probabilities
  std::string where;  ///< its path, for messages
};

/// One model that computes those of all members side by side on the same words. Its "log_probs" are
/// the sum of weight × log-softmax of the members' logits, and not normalized again. Parameters and
/// values of member i begin with "i."; its "alignment", as in marian-decoder, is that of the first
/// member.
///
/// Throws Error naming two members and what differs between them: direction, number of source or
/// target words, content of the vocabularies that both bring; and for a weight that is not finite.
Model make_ensemble(std::vector<EnsembleMember> members);

}  // namespace fuselage
