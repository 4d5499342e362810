#include "base/machine/build_id.h"

#include <gmock/gmock.h>

#include <cstdio>

namespace fuselage {
namespace {

const int kOfThisProgram = 1;

TEST(BuildId, IsTheProgramsOwn) {
  const std::string id = build_id_of(&kOfThisProgram);
  EXPECT_THAT(id, ::testing::MatchesRegex("[0-9a-f]+"));
  EXPECT_EQ(id.size(), 40u) << "as --build-id=sha1 makes it";
  EXPECT_EQ(id, build_id_of(reinterpret_cast<const void*>(&build_id_of)));
}

TEST(BuildId, IsAnotherInAnotherLibrary) {
  EXPECT_NE(build_id_of(stdout), build_id_of(&kOfThisProgram)) << "stdout is the C library's";
}

TEST(BuildId, IsEmptyWhereNoProgramLies) { EXPECT_EQ(build_id_of(nullptr), ""); }

}  // namespace
}  // namespace fuselage
