#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>

#include "corpus/output/text_output.h"

namespace fuselage {

/// What the bytes of a translation depend on: options, model, sizes of inputs.
using JobFacts = std::map<std::string, std::string>;

/// What is known of an output that is written, in a small file beside it.
struct Journal {
  JobFacts facts;
  TextState state;
  std::uint64_t bytes = 0;  ///< of the output in this state
  double seconds = 0;       ///< that it took, in all starts

  bool operator==(const Journal&) const = default;
};

/// The text of a journal: one line of JSON.
std::string print_journal(const Journal& journal);

/// Throws Error, without a place, for a text that is no journal.
Journal parse_journal(std::string_view text);

/// Throws Error with both values, without a place, unless both are the same.
void expect_same_facts(const JobFacts& before, const JobFacts& now);

}  // namespace fuselage
