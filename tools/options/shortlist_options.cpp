#include "tools/options/shortlist_options.h"

#include <string>
#include <vector>

#include "fuselage/base/error.h"
#include "tools/options/validators.h"

namespace fuselage {
namespace {

constexpr const char* kOption = "--shortlist";

/// More than there can be: parse_shortlist counts them, and CLI11 would keep the last ones alone.
constexpr int kMaxShortlistValues = 100;

}  // namespace

void ShortlistChoice::add_to(CLI::App& app) {
  const auto set = [this, &app](const std::vector<std::string>& values) {
    const bool union_of_batch = given_.union_of_batch;
    try {
      given_ = parse_shortlist(values);
    } catch (const Error& error) {
      throw CLI::ValidationError(kOption, error.what() + hint_of_text(app, values.back()));
    }
    given_.union_of_batch = union_of_batch;
  };
  app.add_option_function<std::vector<std::string>>(
         kOption, set,
         "Lexical table (lex.s2t or its binary form): each sentence is translated with the FIRST "
         "words of the vocabulary (100) and the BEST translations (100) of its own words, of a "
         "probability above PRUNE (0)")
      ->expected(1, kMaxShortlistValues)
      ->type_name("FILE [FIRST BEST PRUNE]");
  app.add_flag("--no-shortlist", none_, "Do without the shortlist that the model has")
      ->excludes(kOption);
}

void ShortlistChoice::add_union_to(CLI::App& app) {
  app.add_flag(
      "--shortlist-union", given_.union_of_batch,
      "All sentences of a batch share their shortlists, as in marian-decoder: what becomes "
      "of a sentence then depends on the others");
}

std::optional<ShortlistOptions> ShortlistChoice::given() const {
  if (!none_ && given_.path.empty()) return std::nullopt;
  return given_;
}

}  // namespace fuselage
