#pragma once

#include <string>
#include <vector>

#include "fuselage/base/api.h"
#include "fuselage/models/model.h"

namespace FUSELAGE_API fuselage {

/// A member of an ensemble.
struct EnsembleMember {
  Model model;
  double weight = 1;  ///< factor of the member's log-probabilities
  std::string where;  ///< the member's path, for messages
};

/// One model that runs all members side by side on the same words. Its output "log_probs" is the
/// sum of weight × log-softmax of the members' logits, and is not normalized again. The names of
/// the parameters and values of member i begin with "i.", and its own log-probabilities are the
/// output "log_probs.i". The output "alignment" is the alignment
/// of the first member, as in marian-decoder.
///
/// Throws Error naming two members and their difference in direction, number of source or target
/// words, content of their vocabularies, or settings for decoding; and for a weight that is not
/// finite.
Model make_ensemble(std::vector<EnsembleMember> members);

/// The member itself if there is one, with a weight of 1; else make_ensemble.
Model join_models(std::vector<EnsembleMember> members);

}  // namespace fuselage
