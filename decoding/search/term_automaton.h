#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "fuselage/decoding/search_guide.h"

namespace fuselage {

/// How far a hypothesis is with the terms of its sentence.
struct TermState {
  std::int32_t node = 0;
  std::uint64_t met = 0;       ///< a bit for each term
  std::uint64_t just_met = 0;  ///< terms that the last word has completed
};

/// Throws Error that begins with `line`, as "line 3", for more than kMaxTerms terms or
/// kMaxTermWords words.
void check_term_limits(std::span<const TermForms> terms, std::string_view line);

/// Follows the terms of a sentence through the words of its hypotheses: a trie of all forms with
/// failure links (Aho and Corasick 1975, "Efficient string matching"), as Hu et al. 2019 ("Improved
/// lexically constrained decoding for translation and monolingual rewriting", section 3) follow
/// phrases by a trie. A term is met by a form that does not go on within the same word.
class TermAutomaton {
 public:
  /// No terms.
  TermAutomaton() = default;
  /// Forms are not empty. `continues_word` tells of each word of the vocabulary whether it goes on
  /// with the word before; empty: none does. It must outlive the automaton. Throws the
  /// errors of check_term_limits.
  TermAutomaton(std::span<const TermForms> terms, const std::vector<bool>& continues_word);

  bool empty() const { return weights_.empty(); }

  /// The state after one more word.
  TermState advance(TermState state, std::int32_t word) const;

  bool all_met(const TermState& state) const { return state.met == all_; }

  /// Words of terms that are met, and of the one that is under way: 0 to total().
  std::int64_t words_met(const TermState& state) const;
  std::int64_t total() const { return total_; }

  /// Calls f(word) for the words that begin or continue a form of an open term; a word may come
  /// twice.
  template <typename F>
  void for_next_words(const TermState& state, const F& f) const {
    next_words_of(state.node, state.met, f);
    if (state.node != 0) next_words_of(0, state.met, f);
  }

 private:
  struct Child {
    std::int32_t word;
    std::int32_t node;
  };
  /// A form that a node is on the way to.
  struct Way {
    std::uint8_t term;
    std::int32_t remaining;  ///< words to its end
  };
  struct Node {
    std::vector<Child> children;  ///< by word
    std::vector<Way> ways;
    std::int32_t failure = 0;      ///< the node of the longest proper suffix
    std::uint64_t on_the_way = 0;  ///< terms of `ways`
    std::uint64_t completes = 0;   ///< terms with a form that ends here, or at a suffix
  };

  template <typename F>
  void next_words_of(std::int32_t node, std::uint64_t met, const F& f) const {
    for (const Child& child : nodes_[static_cast<std::size_t>(node)].children)
      if ((nodes_[static_cast<std::size_t>(child.node)].on_the_way & ~met) != 0) f(child.word);
  }

  void add_form(std::uint8_t term, const WordIds& form);
  void link_failures();
  std::int32_t child_of(std::int32_t node, std::int32_t word) const;
  std::int32_t follow(std::int32_t node, std::int32_t word) const;

  std::vector<Node> nodes_;
  std::vector<std::int64_t> weights_;  ///< words of each term's shortest form
  std::int64_t total_ = 0;
  std::uint64_t all_ = 0;
  const std::vector<bool>* continues_word_ = nullptr;
};

}  // namespace fuselage
