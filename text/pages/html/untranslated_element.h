#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <unordered_map>

#include "text/pages/html/tokenizer.h"

namespace fuselage {

/// How many elements of each name are open.
class OpenElements {
 public:
  std::size_t count(const std::string& name) const {
    const auto found = counts_.find(name);
    return found == counts_.end() ? 0 : found->second;
  }
  /// Follows the tags of an element with content. False for an end tag without an open element.
  bool follow(const HtmlToken& tag);

 private:
  std::unordered_map<std::string, std::size_t> counts_;
};

/// Finds the end of an element whose content is left as it is, also where its end tag is left out
/// or forgotten.
class UntranslatedElement {
 public:
  /// `around` has the elements that are open around it, and must outlive it.
  UntranslatedElement(std::string name, const OpenElements& around)
      : name_(std::move(name)), around_(around) {}

  enum class Place : std::uint8_t { inside, end, behind };
  /// Where the next token is: behind the element, if it has no end tag.
  Place follow(const HtmlToken& token);

 private:
  bool has_open_list() const;

  std::string name_;
  const OpenElements& around_;
  OpenElements inside_;
};

}  // namespace fuselage
