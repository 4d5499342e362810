// docs/install.md: its code is the files of the example project, which tests/install builds.

#include <gmock/gmock.h>

#include "base/files/file.h"

namespace fuselage {
namespace {

TEST(Install, ThePageShowsTheProject) {
  const std::string docs = std::string(FUSELAGE_SOURCE_DIR) + "/docs/";
  const std::string page = read_file(docs + "install.md");
  for (const auto& [language, name] : {std::pair{"cmake", "CMakeLists.txt"},
                                       {"c", "translate.c"},
                                       {"cpp", "my_op.cpp"},
                                       {"cpp", "my_model.cpp"}})
    EXPECT_THAT(page, ::testing::HasSubstr(std::string("```") + language + "\n" +
                                           read_file(docs + "examples/project/" + name) + "```\n"));
}

}  // namespace
}  // namespace fuselage
