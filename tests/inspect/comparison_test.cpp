#include "fuselage/inspect/comparison.h"

#include <gmock/gmock.h>

#include <nlohmann/json.hpp>

#include "fuselage/inspect/page.h"
#include "tests/inspect/support.h"

namespace fuselage {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

Report report_with(const std::string& passes) {
  Report report;
  report.history = trace(small_model(), make_optimizer({.passes = passes}));
  for (std::size_t i = 0; i < report.history.stages.size(); ++i) report.stages.push_back(i);
  report.plan = plan_programs(report.history.programs, *report.backend);
  report.summary = summarize(report.history);
  report.summary->before = report.summary->after =
      measure(report.history.programs, report.plan, report.workload);
  return report;
}

Comparison compared() {
  return {.left = report_with("all"),
          .right = report_with("commute_rows"),
          .left_title = "small.ir",
          .right_title = "small.ir (--passes \"commute_rows\" <b>)"};
}

TEST(Comparison, ShowsFiguresAndFindingsOfOneSide) {
  const std::string text = print_comparison(compared());
  EXPECT_THAT(text, HasSubstr("# this: small.ir\n"));
  EXPECT_THAT(text, HasSubstr("program  figure           this      against    ratio\n"));
  EXPECT_THAT(text, HasSubstr("only this: fused "));
  EXPECT_THAT(text, HasSubstr("only against: moved tanh dec.l1.out"));
}

TEST(Comparison, OfEqualSidesHasNoDifference) {
  const std::string text =
      print_comparison({report_with("all"), report_with("all"), "small.ir", "small.ir"});
  EXPECT_THAT(text, Not(HasSubstr("only ")));
}

TEST(Comparison, AsJsonHasTwoGraphs) {
  const auto json = nlohmann::json::parse(print_comparison_json(compared()));
  EXPECT_EQ(json.at("kind"), "comparison");
  for (const char* side : {"this", "against"}) {
    EXPECT_EQ(json.at(side).at("kind"), "graph");
    EXPECT_TRUE(json.at(side).contains("summary"));
  }
}

TEST(Comparison, AsPageLoadsNothingAndEscapesItsPages) {
  const std::string page = print_comparison_page(compared());
  EXPECT_THAT(page, HasSubstr("(--passes &quot;commute_rows&quot; &lt;b>)"));
  for (const char* loader : {" src=", "@import", "url(h", "fetch(", "{{"})
    EXPECT_THAT(page, Not(HasSubstr(loader))) << loader;
  // A quotation mark in one of the pages would end the attribute.
  const std::size_t begin = page.find("srcdoc=\"") + 8;
  const std::size_t end = page.find('"', begin);
  EXPECT_THAT(page.substr(end - 20, 20), HasSubstr("&lt;/html>\n"));
}

}  // namespace
}  // namespace fuselage
