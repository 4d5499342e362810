#include "decoding/search/term_automaton.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <limits>

#include "fuselage/base/error.h"

namespace fuselage {

void check_term_limits(std::span<const TermForms> terms, std::string_view line) {
  if (terms.size() > kMaxTerms)
    throw Error(fmt::format("{} has {} terms, but at most {} can be looked after; ask for fewer",
                            line, terms.size(), kMaxTerms));
  std::size_t words = 0;
  for (const TermForms& forms : terms)
    for (const WordIds& form : forms) words += form.size();
  if (words > kMaxTermWords)
    throw Error(
        fmt::format("{} has terms of {} words together, but at most {} can be looked after; ask "
                    "for fewer",
                    line, words, kMaxTermWords));
}

TermAutomaton::TermAutomaton(std::span<const TermForms> terms,
                             const std::vector<bool>& continues_word)
    : continues_word_(&continues_word) {
  check_term_limits(terms, "a line");
  nodes_.emplace_back();
  for (std::size_t t = 0; t < terms.size(); ++t) {
    std::size_t shortest = std::numeric_limits<std::size_t>::max();
    for (const WordIds& form : terms[t]) {
      check(!form.empty(), "a form of a term has no words");
      shortest = std::min(shortest, form.size());
      add_form(static_cast<std::uint8_t>(t), form);
    }
    check(!terms[t].empty(), "a term has no form");
    weights_.push_back(static_cast<std::int64_t>(shortest));
    total_ += weights_.back();
    all_ |= std::uint64_t{1} << t;
  }
  link_failures();
}

void TermAutomaton::add_form(std::uint8_t term, const WordIds& form) {
  std::size_t at = 0;
  for (std::size_t i = 0; i < form.size(); ++i) {
    std::int32_t next = child_of(static_cast<std::int32_t>(at), form[i]);
    if (next < 0) {
      next = static_cast<std::int32_t>(nodes_.size());
      auto& children = nodes_[at].children;
      const auto place = std::ranges::lower_bound(children, form[i], {}, &Child::word);
      children.insert(place, {form[i], next});
      nodes_.emplace_back();
    }
    at = static_cast<std::size_t>(next);
    nodes_[at].ways.push_back({term, static_cast<std::int32_t>(form.size() - i - 1)});
    nodes_[at].on_the_way |= std::uint64_t{1} << term;
  }
  nodes_[at].completes |= std::uint64_t{1} << term;
}

/// Breadth first, so that the failure links of shorter prefixes are there.
void TermAutomaton::link_failures() {
  std::vector<std::int32_t> queue{0};
  for (std::size_t i = 0; i < queue.size(); ++i) {
    const std::int32_t parent = queue[i];
    for (const Child& child : nodes_[static_cast<std::size_t>(parent)].children) {
      Node& node = nodes_[static_cast<std::size_t>(child.node)];
      if (parent != 0)
        node.failure = follow(nodes_[static_cast<std::size_t>(parent)].failure, child.word);
      node.completes |= nodes_[static_cast<std::size_t>(node.failure)].completes;
      queue.push_back(child.node);
    }
  }
}

std::int32_t TermAutomaton::child_of(std::int32_t node, std::int32_t word) const {
  const auto& children = nodes_[static_cast<std::size_t>(node)].children;
  const auto found = std::ranges::lower_bound(children, word, {}, &Child::word);
  return found != children.end() && found->word == word ? found->node : -1;
}

std::int32_t TermAutomaton::follow(std::int32_t node, std::int32_t word) const {
  while (true) {
    if (const std::int32_t next = child_of(node, word); next >= 0) return next;
    if (node == 0) return 0;
    node = nodes_[static_cast<std::size_t>(node)].failure;
  }
}

TermState TermAutomaton::advance(TermState state, std::int32_t word) const {
  if (empty()) return state;
  const auto w = static_cast<std::size_t>(word);
  if (w < continues_word_->size() && (*continues_word_)[w]) state.met &= ~state.just_met;
  state.node = follow(state.node, word);
  state.just_met = nodes_[static_cast<std::size_t>(state.node)].completes & ~state.met;
  state.met |= state.just_met;
  return state;
}

std::int64_t TermAutomaton::words_met(const TermState& state) const {
  std::int64_t words = 0;
  for (std::uint64_t met = state.met; met != 0; met &= met - 1)
    words += weights_[static_cast<std::size_t>(std::countr_zero(met))];
  std::int64_t under_way = 0;
  for (const Way& way : nodes_[static_cast<std::size_t>(state.node)].ways)
    if ((state.met >> way.term & 1) == 0)
      under_way = std::max(under_way, weights_[way.term] - way.remaining);
  return words + under_way;
}

}  // namespace fuselage
