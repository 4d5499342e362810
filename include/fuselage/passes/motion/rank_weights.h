#pragma once

#include <map>
#include <string>

#include "fuselage/base/api.h"

namespace FUSELAGE_API fuselage {

/// Maps the name of a vocabulary domain to the name of the weight with the rank of each entry: i32,
/// 0 for the most frequent. Vocabularies without such a weight must be sorted by frequency.
using RankWeights = std::map<std::string, std::string>;

}  // namespace fuselage
