#include "models/directory/probes_file.h"

#include <gmock/gmock.h>

#include "fuselage/base/error.h"

namespace fuselage {
namespace {

using ::testing::HasSubstr;
using ::testing::ThrowsMessage;

TEST(ProbesFile, IsReadAsItWasWritten) {
  const Probes probes{.lines = {{.line = "a \"b\"\t\\ ▁é",
                                 .words = {7, 0, 2147483647},
                                 .scores = {-0.1f, -1.17549435e-38f, -12345.678f},
                                 .text = "x\x1f y"},
                                {.line = "", .words = {0}, .scores = {0}, .text = ""}},
                      .rounded = true};
  EXPECT_EQ(parse_probes(print_probes(probes), "probes.json"), probes);
  EXPECT_EQ(parse_probes(print_probes({}), "probes.json"), Probes{});
  const Probes invalid{.lines = {{.line = "\xff", .words = {0}, .scores = {0}, .text = ""}}};
  EXPECT_EQ(parse_probes(print_probes(invalid), "probes.json").lines[0].line, "\uFFFD");
}

TEST(ProbesFile, IsRefusedByName) {
  const auto refused = [](const std::string& text, const char* message) {
    EXPECT_THAT([&] { parse_probes(text, "probes.json"); },
                ThrowsMessage<Error>(AllOf(HasSubstr("probes.json"), HasSubstr(message))))
        << text;
  };
  const auto file = [](const std::string& probe) {
    return R"({"fuselage-probes": 1, "rounded": false, "probes": [)" + probe + "]}";
  };
  const auto probe = [&](const std::string& words, const std::string& scores) {
    return file(R"({"line": "a", "text": "b", "words": )" + words + R"(, "scores": )" + scores +
                "}");
  };
  EXPECT_EQ(parse_probes(probe("[1]", "[-2]"), "probes.json").lines[0].scores[0], -2);
  refused("", "invalid JSON");
  refused("[]", "no JSON object");
  refused("{}", "'fuselage-probes' is missing");
  refused(R"({"fuselage-probes": 2})", "version '2' of the format is not known, only 1");
  refused(R"({"fuselage-probes": 1, "probe": []})", "unknown key 'probe'; did you mean 'probes'?");
  refused(R"({"fuselage-probes": 1, "rounded": 0, "probes": []})", "must be true or false");
  refused(R"({"fuselage-probes": 1, "rounded": true, "probes": {}})", "must be a list");
  refused(file("3"), "probe 1: this must be an object, not '3'");
  refused(file(R"({"line": 1, "text": "b", "words": [0], "scores": [0]})"),
          "'line' must be a text");
  refused(file(R"({"line": "a", "words": [0], "scores": [0]})"), "'text' is missing");
  refused(file(R"({"line": "a", "text": "", "words": [0], "scores": [0], "x": 0})"),
          "probe 1: unknown key 'x'");
  refused(probe("[]", "[]"), "it has 0 words and 0 scores");
  refused(probe("[1, 2]", "[-1]"), "it has 2 words and 1 scores");
  refused(probe("[-1]", "[0]"), "'-1' is no id of a word");
  refused(probe("[2147483648]", "[0]"), "is no id of a word");
  refused(probe("[1.0]", "[0]"), "'1.0' is no id of a word");
  refused(probe("[1]", "[1e39]"), "'1e+39' is no log-probability");
  refused(probe("[1]", "[null]"), "'null' is no log-probability");
  refused(probe("[1]", "-1"), "'scores' must be a list");
  EXPECT_EQ(parse_probes(R"({"fuselage-probes": 1, "x": 0, "rounded": true, "probes": []})", "",
                         /*ignore_unknown=*/true),
            Probes{.rounded = true});
}

}  // namespace
}  // namespace fuselage
