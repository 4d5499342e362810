#include "text/pages/html/untranslated_element.h"

#include <algorithm>

#include "text/pages/html/elements.h"

namespace fuselage {

bool OpenElements::follow(const HtmlToken& tag) {
  if (tag.kind == HtmlToken::Kind::start_tag) {
    ++counts_[tag.name];
    return true;
  }
  const auto found = counts_.find(tag.name);
  if (found == counts_.end()) return false;
  if (--found->second == 0) counts_.erase(found);
  return true;
}

/// Whether an element is open inside that holds siblings of the kind that would end this one.
bool UntranslatedElement::has_open_list() const {
  static const std::string lists[] = {"ul",    "ol",     "menu",     "dl",
                                      "table", "select", "datalist", "ruby"};
  return std::ranges::any_of(lists,
                             [this](const std::string& list) { return inside_.count(list) > 0; });
}

UntranslatedElement::Place UntranslatedElement::follow(const HtmlToken& token) {
  if (token.kind == HtmlToken::Kind::start_tag) {
    if (is_ended_by(name_, token.name) && !has_open_list()) return Place::behind;
    if (!is_void_element(token.name) && !token.self_closing) inside_.follow(token);
    return Place::inside;
  }
  if (token.kind != HtmlToken::Kind::end_tag || inside_.follow(token)) return Place::inside;
  if (token.name == name_) return Place::end;
  const bool ends_parent = is_block_element(token.name) && around_.count(token.name) > 0;
  return ends_parent ? Place::behind : Place::inside;
}

}  // namespace fuselage
