#include "passes/precision/round_attention.h"

#include <fmt/format.h>

#include "fuselage/ops/precision/quantize.h"
#include "fuselage/ops/structure/rows.h"
#include "passes/precision/attention_rows.h"

namespace fuselage {
namespace {

std::optional<std::string> odd_rows(const Match& match) {
  for (const Capture rows : {kKeyRows, kValueRows})
    if (row_size(match.type(rows)) % 2 != 0)
      return fmt::format("rows of {} are not of whole words in 16 bits",
                         match.graph().show(match.type(rows)));
  return std::nullopt;
}

/// Rows of a table would be copied to be rounded.
std::optional<std::string> selected_rows(const Match& match) {
  for (const Capture rows : {kKeyRows, kValueRows})
    if (match.graph().producer(match[rows]).is<op::SelectRows>())
      return fmt::format("rows of {} are read where they are",
                         match.graph().describe(match.graph().producer(match[rows])));
  return std::nullopt;
}

void round_keys_and_values(Rewriter& rewriter, const Match& match, DType to) {
  const auto rounded = [&](Capture rows) {
    return rewriter.add(op::Quantize{{.to = to}}, {match[rows]});
  };
  replace_rows(rewriter, match.root_node(),
               {match[kAttendingRows], rounded(kKeyRows), rounded(kValueRows)});
}

}  // namespace

Pass round_attention(DType to) {
  return {.name = "round_attention",
          .rules = {{.name = "rounded_keys_values",
                     .pattern = attention_of_floats(),
                     .guards = {{"read_again", read_once},
                                {"even_rows", odd_rows},
                                {"computed_rows", selected_rows}},
                     .numerics = {NumericClass::quantizes, 0, "as rows of products are rounded"},
                     .build = [to](Rewriter& rewriter, const Match& match) {
                       round_keys_and_values(rewriter, match, to);
                     }}}};
}

}  // namespace fuselage
