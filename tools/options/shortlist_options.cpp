#include "tools/options/shortlist_options.h"

#include <string>
#include <vector>

#include "fuselage/base/error.h"

namespace fuselage {
namespace {

constexpr const char* kOption = "--shortlist";

}  // namespace

void add_shortlist_options(CLI::App& app, ShortlistOptions& shortlist) {
  const auto set = [&shortlist](const std::vector<std::string>& values) {
    const bool union_of_batch = shortlist.union_of_batch;
    try {
      shortlist = parse_shortlist(values);
    } catch (const Error& error) {
      throw CLI::ValidationError(kOption, error.what());
    }
    shortlist.union_of_batch = union_of_batch;
  };
  app.add_option_function<std::vector<std::string>>(
         kOption, set,
         "Lexical table (lex.s2t or its binary form): each sentence is translated with the FIRST "
         "words of the vocabulary (100) and the BEST translations (100) of its own words, of a "
         "probability above PRUNE (0)")
      ->expected(1, 4)
      ->type_name("FILE [FIRST BEST PRUNE]");
  app.add_flag(
      "--shortlist-union", shortlist.union_of_batch,
      "All sentences of a batch share their shortlists, as in marian-decoder: what becomes "
      "of a sentence then depends on the others");
}

}  // namespace fuselage
