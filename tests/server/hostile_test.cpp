// Requests that are malformed, too large or too slow: each gets a clear error, and the server goes
// on.

#include <gmock/gmock.h>

#include <chrono>
#include <memory>

#include "tests/server/raw_client.h"
#include "tests/server/support.h"

namespace fuselage::hostile_test {
namespace {

using std::chrono::milliseconds;
using support::RawClient;
using support::RunningServer;
using ::testing::AnyOf;
using ::testing::HasSubstr;
using ::testing::StartsWith;

class HostileRequests : public ::testing::Test {
 protected:
  static void SetUpTestSuite() {
    ServerOptions options;
    options.http.request_timeout = milliseconds(700);
    options.http.idle_timeout = milliseconds(3000);
    options.http.max_body = 10'000;
    options.http.max_connections = 4;
    server = new RunningServer(options);
  }
  static void TearDownTestSuite() { delete std::exchange(server, nullptr); }
  void TearDown() override {
    EXPECT_EQ(server->get("/health").status, 200);
    // The next test has all places.
    for (int i = 0; i < 5000 && server->server().connections() > 0; ++i)
      std::this_thread::sleep_for(milliseconds(1));
  }

  static std::string first_reply_to(const std::string& bytes) {
    const RawClient client(server->server().port());
    client.send(bytes);
    return client.read();
  }
  /// Connections of earlier clients take a moment to end.
  static std::string reply_to(const std::string& bytes) {
    std::string reply = first_reply_to(bytes);
    for (int i = 0; i < 100 && reply.find("too many connections") != std::string::npos; ++i) {
      std::this_thread::sleep_for(milliseconds(20));
      reply = first_reply_to(bytes);
    }
    return reply;
  }
  static std::string post_with(const std::string& headers) {
    return "POST /translate HTTP/1.1\r\nContent-Type: application/json\r\n" + headers;
  }

  static inline RunningServer* server = nullptr;
};

TEST_F(HostileRequests, ThatAreNoHttp) {
  EXPECT_THAT(reply_to("nonsense\r\n\r\n"), HasSubstr("HTTP/1.1 400"));
  EXPECT_THAT(reply_to("GET / HTTP/9.9\r\n\r\n"), HasSubstr("HTTP/1.1 400"));
  EXPECT_THAT(reply_to(std::string(1000, '\0') + "\r\n\r\n"), HasSubstr("HTTP/1.1 400"));
  EXPECT_THAT(reply_to("GET / HTTP/1.1\r\nno colon\r\n\r\n"),
              AnyOf(HasSubstr("HTTP/1.1 400"), HasSubstr("HTTP/1.1 200")));
}

TEST_F(HostileRequests, OfUnknownPathsAndMethods) {
  EXPECT_EQ(server->get("/../../etc/passwd").status, 404);
  EXPECT_EQ(server->get("/translate").status, 405);
  EXPECT_EQ(server->get("/translate").headers.find("Allow")->second, "OPTIONS, POST");
  EXPECT_THAT(reply_to("DELETE /translate HTTP/1.1\r\nContent-Length: 5\r\n\r\nhello"),
              HasSubstr("HTTP/1.1 405"));
  EXPECT_THAT(reply_to("POST /nothing HTTP/1.1\r\nContent-Length: 5\r\n\r\nhello"),
              HasSubstr("HTTP/1.1 404"));
  EXPECT_THAT(reply_to("TRACE / HTTP/1.1\r\nConnection: close\r\n\r\n"), HasSubstr("HTTP/1.1 405"));
}

TEST_F(HostileRequests, WithLargeHeads) {
  EXPECT_THAT(
      reply_to("GET /" + std::string(20'000, 'a') + " HTTP/1.1\r\nConnection: close\r\n\r\n"),
      HasSubstr("HTTP/1.1 414"));
  EXPECT_THAT(reply_to("GET / HTTP/1.1\r\nA: " + std::string(100'000, 'a') + "\r\n\r\n"),
              HasSubstr("HTTP/1.1 4"));
  std::string many = "GET / HTTP/1.1\r\n";
  for (int i = 0; i < 100'000; ++i) many += "A: b\r\n";
  EXPECT_THAT(reply_to(many + "\r\n"), HasSubstr("HTTP/1.1 431"));
  const std::string ranges(7'000, ',');
  EXPECT_THAT(reply_to("GET /health HTTP/1.1\r\nConnection: close\r\nRange: bytes=0-1" + ranges +
                       "\r\n\r\n"),
              HasSubstr("HTTP/1.1 "));
  std::string list = "bytes=0-0";
  while (list.size() < 8'000) list += ",0-0";
  EXPECT_THAT(reply_to("GET /health HTTP/1.1\r\nConnection: close\r\nRange: " + list + "\r\n\r\n"),
              HasSubstr("HTTP/1.1 "));
}

TEST_F(HostileRequests, WithLargeBodies) {
  EXPECT_THAT(reply_to(post_with("Content-Length: 10000000\r\n\r\n" + std::string(100'000, 'a'))),
              HasSubstr("HTTP/1.1 413"));
  EXPECT_THAT(reply_to(post_with("Content-Length: 99999999999999999999999\r\n\r\na")),
              HasSubstr("HTTP/1.1 413"));
  for (const char* const header :
       {"Content-Length: 1\r\nContent-Length: 2", "Content-Length: x",
        "Content-Length: 1\r\nTransfer-Encoding: chunked", "Transfer-Encoding: gzip"})
    EXPECT_THAT(reply_to(post_with(header + std::string("\r\n\r\nabc"))), HasSubstr("HTTP/1.1 400"))
        << header;
  EXPECT_THAT(reply_to(post_with("Content-Length: -1\r\n\r\na")), HasSubstr("HTTP/1.1 4"));
  std::string chunks;
  for (int i = 0; i < 100; ++i) chunks += "400\r\n" + std::string(1024, 'a') + "\r\n";
  EXPECT_THAT(reply_to(post_with("Transfer-Encoding: chunked\r\n\r\n" + chunks + "0\r\n\r\n")),
              HasSubstr("HTTP/1.1 413"));
  EXPECT_THAT(reply_to(post_with("Transfer-Encoding: chunked\r\n\r\nzz\r\n")),
              HasSubstr("HTTP/1.1 4"));
  EXPECT_THAT(reply_to(post_with("Expect: 100-continue\r\nContent-Length: 10000000\r\n\r\n")),
              HasSubstr("HTTP/1.1 413"));
}

TEST_F(HostileRequests, WithoutBodies) {
  EXPECT_THAT(reply_to("POST /translate HTTP/1.1\r\nConnection: close\r\n\r\n"),
              HasSubstr("missing q parameter"));
  EXPECT_THAT(reply_to("POST /translate HTTP/1.1\r\nConnection: close\r\nContent-Type: "
                       "multipart/form-data\r\nContent-Length: 3\r\n\r\nabc"),
              HasSubstr("HTTP/1.1 400"));
}

TEST_F(HostileRequests, WhoseCompressedBodiesGrow) {
  // A megabyte of zeros in gzip.
  httplib::Client client = server->client();
  client.set_compress(true);
  const auto result = client.Post("/translate", std::string(1'000'000, ' '), "application/json");
  ASSERT_TRUE(result);
  EXPECT_EQ(result->status, 413);
}

TEST_F(HostileRequests, ThatComeSlowlyOrNotAtAll) {
  const auto begin = std::chrono::steady_clock::now();
  EXPECT_THAT(reply_to(post_with("Content-Length: 100\r\n\r\n{")), HasSubstr("HTTP/1.1 408"));
  EXPECT_THAT(reply_to("POST /translate HTTP/1.1\r\nA:"), HasSubstr("HTTP/1.1 4"));
  // A byte now and then does not help.
  const RawClient slow(server->server().port());
  slow.send(post_with("Content-Length: 100\r\n\r\n"));
  for (int i = 0; i < 12; ++i) {
    slow.send("a");
    std::this_thread::sleep_for(milliseconds(100));
  }
  EXPECT_THAT(slow.read(), HasSubstr("HTTP/1.1 408"));
  EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(10));
}

TEST_F(HostileRequests, OnConnectionsThatTakeAllPlaces) {
  std::vector<std::unique_ptr<RawClient>> idle;
  for (int i = 0; i < 4; ++i) {
    idle.push_back(std::make_unique<RawClient>(server->server().port()));
    ASSERT_TRUE(idle.back()->send("GET /health HTTP/1.1\r\n\r\n"));
    EXPECT_THAT(idle.back()->read("ok\"}"), StartsWith("HTTP/1.1 200"));
  }
  EXPECT_THAT(first_reply_to("GET /languages HTTP/1.1\r\n\r\n"), StartsWith("HTTP/1.1 429"));
  // One that has waited for a while for its next request gives way.
  std::this_thread::sleep_for(milliseconds(1100));
  EXPECT_EQ(server->get("/languages").status, 200);
}

TEST_F(HostileRequests, ThatAreTooMany) {
  // Requests without an end take all threads.
  std::vector<std::unique_ptr<RawClient>> slow;
  for (int i = 0; i < 4; ++i) {
    slow.push_back(std::make_unique<RawClient>(server->server().port()));
    ASSERT_TRUE(slow.back()->send(post_with("Content-Length: 100\r\n\r\n{")));
  }
  const auto begin = std::chrono::steady_clock::now();
  const std::string health = first_reply_to("GET /health HTTP/1.1\r\n\r\n");
  EXPECT_THAT(health, StartsWith("HTTP/1.1 200"));
  const std::string refused = first_reply_to("GET / HTTP/1.1\r\nA: b\r\n\r\n");
  EXPECT_THAT(refused, StartsWith("HTTP/1.1 429"));
  EXPECT_THAT(refused, HasSubstr("Retry-After: 1\r\n"));
  EXPECT_THAT(first_reply_to(post_with("Content-Length: 3\r\n\r\nabc")),
              StartsWith("HTTP/1.1 429"));
  EXPECT_THAT(first_reply_to("nonsense\r\n\r\n"), StartsWith("HTTP/1.1 400"));
  EXPECT_LT(std::chrono::steady_clock::now() - begin, milliseconds(600));
  // They have the time of a request, and no longer.
  for (const auto& client : slow) EXPECT_THAT(client->read(), HasSubstr("HTTP/1.1 408"));
}

TEST_F(HostileRequests, OneAfterAnother) {
  const std::string body = R"({"q":"Tom","source":"en","target":"de"})";
  const std::string one =
      post_with("Content-Length: " + std::to_string(body.size()) + "\r\n\r\n" + body);
  const RawClient client(server->server().port());
  ASSERT_TRUE(client.send(one + one + "GET /health HTTP/1.1\r\nConnection: close\r\n\r\n"));
  const std::string replies = client.read();
  EXPECT_THAT(replies, HasSubstr("{\"status\":\"ok\"}"));
  std::size_t count = 0;
  for (std::size_t at = replies.find("translatedText"); at != std::string::npos;
       at = replies.find("translatedText", at + 1))
    ++count;
  EXPECT_EQ(count, 2u);
}

}  // namespace
}  // namespace fuselage::hostile_test
