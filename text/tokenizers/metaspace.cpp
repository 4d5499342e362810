#include "text/tokenizers/metaspace.h"

#include <fmt/format.h>

#include "base/suggest.h"
#include "text/tokenizers/json_part.h"
#include "text/unicode.h"

namespace fuselage {

MetaspaceOptions metaspace_options(const JsonPart& part) {
  using Prepend = MetaspaceOptions::Prepend;
  MetaspaceOptions options{.replacement = part.text("replacement")};
  if (options.replacement.empty() ||
      first_character(options.replacement).length != options.replacement.size())
    part.refuse(
        fmt::format("the replacement {} is not one character", in_quotes(options.replacement)));
  const std::string scheme = part.text("prepend_scheme", "always");
  if (scheme == "never" || !part.truth("add_prefix_space", true))
    options.prepend = Prepend::never;
  else if (scheme == "first")
    options.prepend = Prepend::first;
  else if (scheme != "always")
    part.refuse(
        fmt::format("the prepend_scheme {} is none of always, first and never", in_quotes(scheme)));
  return options;
}

}  // namespace fuselage
