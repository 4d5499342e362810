#pragma once

#include <cstdint>
#include <limits>
#include <string>
#include <string_view>

#include "fuselage/base/api.h"
#include "fuselage/graph/ids.h"
#include "fuselage/graph/type.h"

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

/// The pairs that a domain has: the position of the right member minus the position of the left one
/// is between `first` and `last`. Causal attention of source tokens has {.last = 0}, a sliding
/// window of n words {.first = 1 - n, .last = 0}.
struct Window {
  static constexpr std::int64_t kUnbounded = std::numeric_limits<std::int64_t>::max();
  std::int64_t first = -kUnbounded;
  std::int64_t last = kUnbounded;

  bool has_all() const { return first == -kUnbounded && last == kUnbounded; }
  friend bool operator==(const Window&, const Window&) = default;
};

/// A declared set of rows. `of` is the owner: the domain that each row belongs to (see DomainKind).
struct Domain {
  std::string name;
  DomainKind kind = DomainKind::none;
  std::int64_t size = 0;  ///< vocabulary: number of entries; 0 elsewhere
  DomainId of;            ///< source, shortlist, scan, parent, hypothesis, prefix
  bool reversed = false;  ///< scan: from the last position to the first
  DomainId left, right;   ///< pairs
  Window window = {};     ///< pairs
  BindingTime binding = BindingTime::load;
};

/// The kinds of maps between domains. All but word maps and the first four kinds follow from
/// positions in sentences.
enum class MapKind : std::uint8_t {
  structural,  ///< a row to its owner row; declared with the domain
  left,        ///< a pair to its left member
  right,       ///< a pair to its right member
  newest,      ///< a hypothesis to the prefix row of its last token
  word,        ///< a row to a vocabulary entry that the caller supplies; declared by the model
  neighbour,   ///< a token to the token of the same sentence at a distance; partial
  token,       ///< a sentence to its token at a position; partial but for the first and the last
  position,    ///< a token to the entry of a table at its position
  distance,    ///< a pair to the entry of a table for the distance of its members
};

/// How the distance of a pair, the position of the right member minus the position of the left one,
/// becomes an entry of a table of n entries.
struct DistanceBuckets {
  enum class Kind : std::uint8_t {
    /// Distances -k … k are entries 0 … 2k, n = 2k + 1; others count as -k or k (Shaw et al. 2018,
    /// "Self-Attention with Relative Position Representations", section 3.2). Causal: distances
    /// 0, -1, … are entries 0 … n - 1.
    clipped,
    /// Half of the entries for one distance each, then for ranges that grow to max_distance in
    /// equal steps of the logarithm; the last one also for all beyond. The second half of the table
    /// is for positive distances; causal: they count as 0 (Raffel et al. 2020, "Exploring the
    /// Limits of Transfer Learning with a Unified Text-to-Text Transformer", section 2.1).
    logarithmic,
  };
  Kind kind = Kind::clipped;
  std::int64_t max_distance = 0;  ///< logarithmic
  bool causal = false;            ///< all right members are at or before the left ones

  friend bool operator==(const DistanceBuckets&, const DistanceBuckets&) = default;
};

/// A function from the rows of `from` to the rows of `to`. A partial map leaves some rows unmapped
/// ("no word yet"); a reader supplies a default row for them.
struct RowMap {
  std::string name;
  DomainId from, to;
  MapKind kind = MapKind::structural;
  bool partial = false;
  /// neighbour: the neighbour's position minus the token's. token: the token's position, counted
  /// from the end if negative: -1 is the last. position: added to the position, before it is
  /// limited to the table.
  std::int64_t offset = 0;
  DistanceBuckets buckets = {};  ///< distance
};

/// Numbers that the caller supplies for each row of a domain: frames of speech, features.
struct Input {
  std::string name;
  Type type;  ///< f32, over a source or sentence domain
};

}  // namespace fuselage
