// What the models of a server can do, and the pages of their graphs.

#include <gmock/gmock.h>

#include <fstream>

#include "tests/server/support.h"
#include "tests/temporary_folder.h"

namespace fuselage::server_models_test {
namespace {

using support::RunningServer;
using support::TestJson;
using ::testing::HasSubstr;

TEST(ServedModels, TellWhatTheyCanDo) {
  const RunningServer server({}, support::bundled_as({{"en", "de"}}, {.guided = true}));
  EXPECT_EQ(server.get("/v1/models").json, TestJson::array({{{"source", "en"},
                                                             {"target", "de"},
                                                             {"n_best", 6},
                                                             {"alignment", false},
                                                             {"prefix", true},
                                                             {"graph", true}}}));
}

TEST(ServedModels, ShowTheirGraphs) {
  const RunningServer server({}, support::bundled_as({{"en", "de"}, {"fr", "de"}}));
  for (const char* const path : {"/graph", "/graph?source=fr&target=de"}) {
    const auto result = server.client().Get(path);
    ASSERT_TRUE(result);
    EXPECT_EQ(result->status, 200);
    EXPECT_EQ(result->body, "<title>graph</title>");
    EXPECT_THAT(result->get_header_value("Content-Type"), HasSubstr("text/html"));
    EXPECT_THAT(result->get_header_value("Content-Security-Policy"),
                HasSubstr("default-src 'none'"));
  }
  const auto unknown = server.get("/graph?source=de&target=en");
  EXPECT_EQ(unknown.status, 404);
  EXPECT_THAT(unknown.json.value("error", ""), HasSubstr("there is no model of de-en"));
}

TEST(ServedModels, ShowNoGraphsWhereKeysAreNeeded) {
  const support::TemporaryFolder folder;
  std::ofstream(folder / "keys") << "secret\n";
  const RunningServer server({.api_keys = folder / "keys"});
  EXPECT_EQ(server.get("/v1/models").json[0]["graph"], false);
  EXPECT_EQ(server.get("/graph").status, 401);
  EXPECT_EQ(server.get("/graph?api_key=secret").status, 404);
}

}  // namespace
}  // namespace fuselage::server_models_test
