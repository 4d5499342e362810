#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "graph/ids.h"

namespace fuselage {

/// When a value can be known: once per model, once per batch, or once per decoding step.
enum class BindingTime : std::uint8_t { load, source, step };

std::string_view to_string(BindingTime time);

/// What the rows of a value range over. The kinds form a fixed vocabulary; a graph declares as many
/// domains of each kind as its model has.
enum class DomainKind : std::uint8_t {
  none,        ///< no rows: a parameter or another constant
  vocabulary,  ///< one row per vocabulary entry
  sentence,    ///< one row per sentence
  source,      ///< one row per source token; of a sentence domain
  shortlist,   ///< one row per word that a sentence's translation may use; of a sentence domain
  scan,        ///< the source tokens at one position of a loop over positions; of a source domain
  parent,      ///< one row per distinct surviving hypothesis of the last step; of a sentence domain
  hypothesis,  ///< one row per live hypothesis of this step; of a parent domain
  prefix,      ///< one row per generated token, which never moves; of a hypothesis domain
  pairs,       ///< ragged product of two domains within a sentence
};

std::string_view to_string(DomainKind kind);

/// A declared set of rows. `of` is the domain that each row belongs to (see DomainKind).
struct Domain {
  std::string name;
  DomainKind kind = DomainKind::none;
  std::int64_t size = 0;  ///< vocabulary: number of entries; 0 elsewhere
  DomainId of;            ///< source, shortlist, scan, parent, hypothesis, prefix
  bool reversed = false;  ///< scan: from the last position to the first
  DomainId left, right;   ///< pairs
  BindingTime binding = BindingTime::load;
};

/// How a map between domains comes about.
enum class MapKind : std::uint8_t {
  structural,  ///< a row to the row that it belongs to; declared with its domain
  left,        ///< a pair to its left member
  right,       ///< a pair to its right member
  newest,      ///< a hypothesis to the prefix row of the token that it just took
  word,        ///< a token to its vocabulary entry; declared by the model
};

/// A function from the rows of `from` to the rows of `to`. A partial map has rows that lead nowhere
/// ("no word yet"); whoever reads through it gives a default row.
struct RowMap {
  std::string name;
  DomainId from, to;
  MapKind kind = MapKind::structural;
  bool partial = false;
};

}  // namespace fuselage
