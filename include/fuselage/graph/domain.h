#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "fuselage/base/api.h"
#include "fuselage/graph/ids.h"

namespace FUSELAGE_API fuselage {

/// When a value is computed: once per model, once per batch, or once per decoding step.
enum class BindingTime : std::uint8_t { load, source, step };

std::string_view to_string(BindingTime time);

/// What the rows of a value range over. The kinds are fixed; a graph declares any number of domains
/// of each kind.
enum class DomainKind : std::uint8_t {
  none,        ///< no rows: a parameter or another constant
  vocabulary,  ///< one row per vocabulary entry
  sentence,    ///< one row per sentence
  source,      ///< one row per source token; owner: a sentence domain
  shortlist,   ///< one row per shortlisted word of a sentence; owner: a sentence domain
  scan,        ///< the source tokens at one position of a loop; owner: a source domain
  parent,      ///< one row per distinct parent of the hypotheses; owner: a sentence domain
  hypothesis,  ///< one row per live hypothesis of this step; owner: a parent domain
  prefix,      ///< one row per generated token, never moved; owner: a hypothesis domain
  pairs,       ///< ragged product of two domains within a sentence
};

std::string_view to_string(DomainKind kind);

/// A declared set of rows. `of` is the owner: the domain that each row belongs to (see DomainKind).
struct Domain {
  std::string name;
  DomainKind kind = DomainKind::none;
  std::int64_t size = 0;  ///< vocabulary: number of entries; 0 elsewhere
  DomainId of;            ///< source, shortlist, scan, parent, hypothesis, prefix
  bool reversed = false;  ///< scan: from the last position to the first
  DomainId left, right;   ///< pairs
  BindingTime binding = BindingTime::load;
};

/// The kinds of maps between domains.
enum class MapKind : std::uint8_t {
  structural,  ///< a row to its owner row; declared with the domain
  left,        ///< a pair to its left member
  right,       ///< a pair to its right member
  newest,      ///< a hypothesis to the prefix row of its last token
  word,        ///< a token to its vocabulary entry; declared by the model
};

/// A function from the rows of `from` to the rows of `to`. A partial map leaves some rows unmapped
/// ("no word yet"); a reader supplies a default row for them.
struct RowMap {
  std::string name;
  DomainId from, to;
  MapKind kind = MapKind::structural;
  bool partial = false;
};

}  // namespace fuselage
