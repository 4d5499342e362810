// Limits, keys, figures, and the end of a server.

#include <gmock/gmock.h>

#include <algorithm>
#include <atomic>
#include <fstream>
#include <random>
#include <thread>

#include "fuselage/base/error.h"
#include "server/limits/api_keys.h"
#include "tests/server/raw_client.h"
#include "tests/server/support.h"
#include "tests/temporary_folder.h"

namespace fuselage::server_operation_test {
namespace {

using std::chrono::milliseconds;
using support::RawClient;
using support::RunningServer;
using support::TestJson;
using ::testing::HasSubstr;
using ::testing::MatchesRegex;

TestJson request_of(const TestJson& q) { return {{"q", q}, {"source", "en"}, {"target", "de"}}; }

/// Text that takes a while.
std::vector<std::string> many_lines(std::size_t count) {
  std::vector<std::string> lines;
  for (std::size_t i = 0; i < count; ++i)
    lines.push_back("Tom is my friend, and he has " + std::to_string(i) +
                    " brothers who live in a small house near the sea.");
  return lines;
}

std::string raw_post(const TestJson& body) {
  const std::string text = body.dump();
  return "POST /translate HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\n"
         "Content-Length: " +
         std::to_string(text.size()) + "\r\n\r\n" + text;
}

ModelStore::Open slow_model() {
  return support::bundled_as({{"en", "de"}}, {.beam_size = 64, .n_best = 1});
}

template <typename Condition>
bool soon(const Condition& condition) {
  for (int i = 0; i < 300; ++i) {
    if (condition()) return true;
    std::this_thread::sleep_for(milliseconds(50));
  }
  return false;
}

QueueFigures figures_of(RunningServer& running) {
  return running.server().models()->models().front()->queue().figures();
}

TEST(ServerLimits, RefuseLinesThatFindNoRoomToWait) {
  RunningServer server({.queue = {.places = 1, .max_waiting = 1}}, slow_model());
  const RawClient busy(server.server().port());
  ASSERT_TRUE(busy.send(raw_post(request_of(many_lines(200)))));
  ASSERT_TRUE(soon([&] { return figures_of(server).waiting == 1; }));
  // Between two lines of the other request there may be room for a moment.
  RunningServer::Answer refused;
  ASSERT_TRUE(soon([&] {
    refused = server.post("/translate", request_of("a"));
    return refused.status == 429;
  }));
  EXPECT_THAT(refused.json.value("error", ""), HasSubstr("too many lines wait"));
  EXPECT_EQ(refused.headers.find("Retry-After")->second, "1");
}

TEST(ServerLimits, EndTranslationsAtTheirDeadline) {
  const RunningServer server({.limits = {.timeout = milliseconds(50)}}, slow_model());
  const auto late = server.post("/translate", request_of(many_lines(200)));
  EXPECT_EQ(late.status, 504);
  EXPECT_THAT(late.json.value("error", ""), HasSubstr("was not translated in 0.05 seconds"));
  const TestJson stream = {{"text", many_lines(200)}, {"target", "de"}, {"stream", true}};
  const auto events = server.client().Post("/v1/translate", stream.dump(), "application/json");
  ASSERT_TRUE(events);
  EXPECT_THAT(events->body, HasSubstr("event: error\ndata: {\"error\":\"the text was not"));
}

TEST(ServerLimits, CancelTheLinesOfAClientThatHasGone) {
  RunningServer server({}, slow_model());
  {
    const RawClient client(server.server().port());
    ASSERT_TRUE(client.send(raw_post(request_of(many_lines(500)))));
    ASSERT_TRUE(soon([&] { return figures_of(server).translating > 0; }));
  }
  EXPECT_TRUE(soon([&] {
    const QueueFigures figures = figures_of(server);
    return figures.waiting + figures.translating == 0;
  }));
  EXPECT_LT(figures_of(server).translated, 500u);
}

TEST(ServerLimits, CloseNoConnectionThatIsInUse) {
  ServerOptions options;
  options.http.max_connections = 2;
  RunningServer server(options);
  std::atomic<int> translated = 0, refused = 0, others = 0;
  const auto ask_on_one_connection = [&] {
    httplib::Client client = server.client();
    client.set_keep_alive(true);
    for (int i = 0; i < 40; ++i) {
      const auto reply =
          client.Post("/translate", request_of("Tom is here.").dump(), "application/json");
      const int status = reply ? reply->status : 0;
      ++(status == 200 ? translated : status == 429 ? refused : others);
    }
  };
  {
    std::vector<std::jthread> clients;
    for (int i = 0; i < 6; ++i) clients.emplace_back(ask_on_one_connection);
  }
  EXPECT_GT(translated, 0);
  EXPECT_GT(refused, 0);
  EXPECT_EQ(others, 0);
}

TEST(ServerLimits, CountRequestsOfAClient) {
  const RunningServer server({.limits = {.requests_per_minute = 2}});
  EXPECT_EQ(server.post("/translate", request_of("a")).status, 200);
  EXPECT_EQ(server.post("/detect", {{"q", "a"}}).status, 200);
  const auto refused = server.post("/translate", request_of("a"));
  EXPECT_EQ(refused.status, 429);
  EXPECT_EQ(refused.json["error"], "Slowdown: 2 per 1 minute");
  EXPECT_THAT(refused.headers.find("Retry-After")->second, MatchesRegex("[23][0-9]"));
  EXPECT_EQ(server.get("/languages").status, 200);
}

TEST(ServerLimits, CountClientsBehindAProxy) {
  ServerOptions options{.limits = {.requests_per_minute = 1}};
  options.http.behind_proxy = true;
  const RunningServer server(options);
  const auto status = [&](const std::string& forwarded) {
    const auto result = server.client().Post("/detect", {{"X-Forwarded-For", forwarded}}, "q=a",
                                             "application/x-www-form-urlencoded");
    return result ? result->status : 0;
  };
  EXPECT_EQ(status("192.0.2.1"), 200);
  EXPECT_EQ(status("192.0.2.1"), 429);
  EXPECT_EQ(status("192.0.2.1, 192.0.2.2"), 200);
  EXPECT_EQ(status("192.0.2.3, 192.0.2.2"), 429);
  EXPECT_EQ(status("a\x01z"), 200) << "no name, so it counts as the proxy";
  EXPECT_EQ(status("b\x01z"), 429);
}

TEST(ServerKeys, AreNeeded) {
  const support::TemporaryFolder folder;
  std::ofstream(folder / "keys") << "secret\nfew 1\n";
  const RunningServer server({.api_keys = folder / "keys"});
  TestJson request = request_of("Tom is here.");
  EXPECT_EQ(server.post("/translate", request).status, 400);
  EXPECT_EQ(server.post("/v1/translate", {{"text", "a"}, {"target", "de"}}).status, 401);
  const auto bearer = server.client().Post("/translate", {{"Authorization", "Bearer secret"}},
                                           request.dump(), "application/json");
  ASSERT_TRUE(bearer);
  EXPECT_EQ(bearer->status, 200);
  request["api_key"] = "wrong";
  EXPECT_EQ(server.post("/translate", request).status, 403);
  request["api_key"] = "secret";
  EXPECT_EQ(server.post("/translate", request).status, 200);
  request["api_key"] = "few";
  EXPECT_EQ(server.post("/translate", request).status, 200);
  EXPECT_EQ(server.post("/translate", request).status, 429);
  EXPECT_EQ(server.get("/frontend/settings").json["keyRequired"], true);
}

TEST(ServerKeys, AreThereOnce) {
  const support::TemporaryFolder folder;
  std::ofstream(folder / "keys") << "a 2\nb\na 3\n";
  EXPECT_THAT([&] { ApiKeys keys(folder / "keys"); },
              ::testing::ThrowsMessage<Error>(HasSubstr("keys:3: a line above has this key too")));
}

TEST(ServerEnd, AnswersWhatWasAccepted) {
  auto server = std::make_unique<RunningServer>(ServerOptions{}, slow_model());
  const RawClient client(server->server().port()), idle(server->server().port());
  ASSERT_TRUE(client.send(raw_post(request_of(many_lines(10)))));
  ASSERT_TRUE(soon([&] { return figures_of(*server).translating > 0; }));
  std::thread end([&] { server->end(); });
  const std::string reply = client.read();
  end.join();
  EXPECT_THAT(reply, HasSubstr("HTTP/1.1 200 OK"));
  EXPECT_THAT(reply, HasSubstr("translatedText"));
}

TEST(ServerReload, LosesNoRequest) {
  std::atomic<bool> fails = false;
  const auto opened = support::bundled_as({{"en", "de"}}, {.n_best = 1});
  std::vector<std::string> notes;
  RunningServer server({.log = [&](std::string_view note) { notes.emplace_back(note); }}, [&] {
    if (fails) throw Error("there is no such model");
    return opened();
  });
  std::atomic<bool> ended = false;
  std::atomic<int> good = 0, bad = 0;
  std::vector<std::thread> clients;
  for (int i = 0; i < 4; ++i)
    clients.emplace_back([&] {
      while (!ended)
        ++(server.post("/translate", request_of(many_lines(3))).status == 200 ? good : bad);
    });
  for (int i = 0; i < 3; ++i) server.server().reload();
  fails = true;
  server.server().reload();
  ended = true;
  for (std::thread& client : clients) client.join();
  EXPECT_EQ(bad, 0);
  EXPECT_GT(good, 0);
  ASSERT_EQ(notes.size(), 4u);
  EXPECT_THAT(notes[3], HasSubstr("were not loaded again: there is no such model"));
  EXPECT_EQ(server.post("/translate", request_of("a")).status, 200);
}

/// Sentences of many kinds and lengths, the same in each run.
std::vector<std::string> mixed_sentences(std::size_t count) {
  const std::vector<std::string> words = {"Tom", "my",     "friend", "house", "the",  "sea",
                                          "old", "sleeps", "never",  "small", "blue", "we"};
  std::mt19937 random(1);
  std::vector<std::string> sentences;
  for (std::size_t i = 0; i < count; ++i) {
    std::string sentence = "I";
    for (std::size_t left = 1 + random() % 12; left > 0; --left)
      sentence += " " + words[random() % words.size()];
    sentences.push_back(sentence + ".");
  }
  return sentences;
}

TEST(ServerBatches, ChangeNoByteOfATranslation) {
  const std::vector<std::string> sentences = mixed_sentences(320);
  const Translator translator(find_bundled_model());
  std::vector<std::string> expected;
  for (const Translation& translation : translator.translate(sentences))
    expected.push_back(translation.text());
  const RunningServer server({}, support::bundled_as({{"en", "de"}}));
  std::vector<std::string> got(sentences.size());
  std::vector<std::thread> clients;
  constexpr std::size_t kClients = 32;
  for (std::size_t client = 0; client < kClients; ++client)
    clients.emplace_back([&, client] {
      std::vector<std::size_t> own;
      for (std::size_t i = client; i < sentences.size(); i += kClients) own.push_back(i);
      std::ranges::shuffle(own, std::mt19937(static_cast<unsigned>(client)));
      for (const std::size_t i : own)
        got[i] = server.post("/translate", request_of(sentences[i]))
                     .json.value("translatedText", "no answer");
    });
  for (std::thread& client : clients) client.join();
  EXPECT_EQ(got, expected);
}

TEST(ServerFigures, AreForPrometheus) {
  const RunningServer server;
  server.post("/translate", request_of("Tom is my friend."));
  server.post("/translate", request_of(5));
  server.get("/no/such/path");
  // A request counts when its reply has been sent.
  httplib::Result result = server.client().Get("/metrics");
  ASSERT_TRUE(soon([&] {
    result = server.client().Get("/metrics");
    return result && result->body.find("route=\"other\",status=\"404\"} 1") != std::string::npos &&
           result->body.find("le=\"+Inf\"} 2") != std::string::npos;
  }));
  for (const char* const line :
       {"fuselage_http_requests_total{route=\"/translate\",status=\"200\"} 1\n",
        "fuselage_http_requests_total{route=\"/translate\",status=\"400\"} 1\n",
        "fuselage_http_requests_total{route=\"other\",status=\"404\"} 1\n",
        "fuselage_http_request_seconds_bucket{route=\"/translate\",le=\"+Inf\"} 2\n",
        "fuselage_lines_total{model=\"en-de\"} 1\n", "fuselage_queue_waiting{model=\"en-de\"} 0\n"})
    EXPECT_THAT(result->body, HasSubstr(line));
  // Each line is a comment or a name with a number, as the format has it.
  std::istringstream lines(result->body);
  for (std::string line; std::getline(lines, line);)
    EXPECT_THAT(line, MatchesRegex("# .*|fuselage_[a-z_]+([{].*[}])? [0-9.e+-]+"));
}

TEST(ServerLog, HasALineForEachRequest) {
  const support::TemporaryFolder folder;
  RunningServer server({.access_log = folder / "log"});
  server.get("/health");
  // A line is written when the client has its reply.
  ASSERT_TRUE(soon([&] { return std::filesystem::file_size(folder / "log") > 0; }));
  const RawClient client(server.server().port());
  ASSERT_TRUE(client.send("GET /a%0Ab HTTP/1.1\r\nConnection: close\r\n\r\n"));
  client.read();
  server.end();
  std::ifstream file(folder / "log");
  std::string first, second, more;
  ASSERT_TRUE(std::getline(file, first) && std::getline(file, second));
  EXPECT_FALSE(std::getline(file, more));
  EXPECT_THAT(first, MatchesRegex("[0-9T:-]+Z 127.0.0.1 GET '/health' 200 15 0.[0-9]+"));
  EXPECT_THAT(second, HasSubstr("GET '/a\\x0ab' 404"));
}

}  // namespace
}  // namespace fuselage::server_operation_test
