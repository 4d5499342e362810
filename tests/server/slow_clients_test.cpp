// Clients that send slowly, never read, or close in the middle: they end at their limits, and
// nobody waits for them.

#include <gmock/gmock.h>

#include <algorithm>
#include <chrono>
#include <memory>

#include "tests/server/raw_client.h"
#include "tests/server/support.h"

namespace fuselage::slow_clients_test {
namespace {

using std::chrono::milliseconds;
using support::RawClient;
using support::RunningServer;
using support::TestJson;
using ::testing::HasSubstr;
using Clock = std::chrono::steady_clock;
using Clients = std::vector<std::unique_ptr<RawClient>>;

constexpr milliseconds kLimit{1000};
/// What a busy machine may add to a limit.
constexpr milliseconds kMargin{4000};

template <typename Condition>
bool within(milliseconds time, const Condition& condition) {
  for (const auto until = Clock::now() + time; Clock::now() < until;) {
    if (condition()) return true;
    std::this_thread::sleep_for(milliseconds(20));
  }
  return condition();
}

std::string head_of_post(const std::string& path, std::size_t bytes) {
  return "POST " + path +
         " HTTP/1.1\r\nContent-Type: application/json\r\nContent-Length: " + std::to_string(bytes) +
         "\r\n\r\n";
}

std::string post(const std::string& path, const TestJson& body) {
  const std::string text = body.dump();
  return head_of_post(path, text.size()) + text;
}

/// Asks for more bytes of replies than systems keep for a client that does not read.
std::string many_requests() {
  std::string requests;
  for (int i = 0; i < 900; ++i) requests += "GET / HTTP/1.1\r\n\r\n";
  return requests;
}

/// A text whose translations are more bytes than the server can send to a client without room.
TestJson long_stream() {
  std::vector<std::string> lines;
  for (int i = 0; i < 120; ++i)
    lines.push_back("Tom has " + std::to_string(i) + " friends who live near the sea.");
  return {
      {"text", lines}, {"target", "de"}, {"n_best", 4}, {"word_scores", true}, {"stream", true}};
}

class SlowClients : public ::testing::Test {
 protected:
  static void SetUpTestSuite() {
    ServerOptions options;
    options.http.request_timeout = kLimit;
    options.http.idle_timeout = kLimit;
    options.http.write_timeout = kLimit;
    server = new RunningServer(options);
  }
  static void TearDownTestSuite() { delete std::exchange(server, nullptr); }
  /// All connections are closed, and nothing is translated for them.
  void TearDown() override {
    EXPECT_TRUE(within(kLimit + kMargin, [] { return is_idle(); }));
  }

  static std::unique_ptr<RawClient> connect(int receive_bytes = 0) {
    return std::make_unique<RawClient>(server->server().port(), receive_bytes);
  }

  static std::size_t connections() { return server->server().connections(); }

  static bool is_idle() {
    const QueueFigures figures = server->server().models()->models().front()->queue().figures();
    return connections() == 0 && figures.waiting + figures.translating == 0;
  }

  /// The median time of a request.
  static Clock::duration latency() {
    std::vector<Clock::duration> times(15);
    for (Clock::duration& time : times) {
      const auto begin = Clock::now();
      const auto answer = server->post(
          "/translate", {{"q", "Tom is my friend."}, {"source", "en"}, {"target", "de"}});
      EXPECT_EQ(answer.status, 200);
      time = Clock::now() - begin;
    }
    std::ranges::sort(times);
    return times[times.size() / 2];
  }

  static inline RunningServer* server = nullptr;
};

/// Clients of one kind that send a byte now and then until they are destroyed.
class Trickle {
 public:
  Trickle(const Clients& clients, std::string bytes)
      : thread_([this, &clients, bytes = std::move(bytes)] {
          for (std::size_t at = 0; !ended_; at = (at + 1) % bytes.size()) {
            for (const auto& client : clients) client->send_at_once(bytes.substr(at, 1));
            std::this_thread::sleep_for(kLimit / 10);
          }
        }) {}
  ~Trickle() {
    ended_ = true;
    thread_.join();
  }

 private:
  std::atomic<bool> ended_ = false;
  std::thread thread_;
};

TEST_F(SlowClients, HoldNobody) {
  const auto usual = latency();
  Clients heads, bodies, deaf;
  for (int i = 0; i < 8; ++i) {
    heads.push_back(connect());
    bodies.push_back(connect());
    ASSERT_TRUE(bodies.back()->send(head_of_post("/translate", 1000)));
    deaf.push_back(connect());
    deaf.back()->send_at_once(many_requests());
  }
  const Trickle head_bytes(heads, "POST /translate HTTP/1.1\r\nA: " + std::string(1000, 'b'));
  const Trickle body_bytes(bodies, "{\"q\":\"" + std::string(1000, 'b'));
  EXPECT_LT(latency(), 2 * usual + milliseconds(30));
}

TEST_F(SlowClients, ThatSendTheirHeadsAreTold) {
  Clients clients;
  clients.push_back(connect());
  const auto begin = Clock::now();
  const Trickle bytes(clients, "GET / HTTP/1.1\r\nA: " + std::string(1000, 'b'));
  EXPECT_THAT(clients[0]->read(), HasSubstr("HTTP/1.1 408"));
  EXPECT_GE(Clock::now() - begin, kLimit);
  EXPECT_LT(Clock::now() - begin, kLimit + kMargin);
}

TEST_F(SlowClients, ThatSendTheirBodiesAreTold) {
  Clients clients;
  clients.push_back(connect());
  const auto begin = Clock::now();
  ASSERT_TRUE(clients[0]->send(head_of_post("/translate", 1000)));
  const Trickle bytes(clients, "{\"q\":\"" + std::string(1000, 'b'));
  EXPECT_THAT(clients[0]->read(), HasSubstr("HTTP/1.1 408"));
  EXPECT_GE(Clock::now() - begin, kLimit);
  EXPECT_LT(Clock::now() - begin, kLimit + kMargin);
}

TEST_F(SlowClients, ThatSendNothingAreClosed) {
  const auto client = connect();
  EXPECT_EQ(client->read({}, std::chrono::seconds(5)), "");
}

TEST_F(SlowClients, ThatReadNothingAreClosed) {
  const auto client = connect();
  ASSERT_TRUE(client->send_at_once(many_requests()));
  ASSERT_TRUE(within(kMargin, [] { return connections() > 0; }));
  EXPECT_TRUE(within(kLimit + kMargin, [] { return connections() == 0; }));
  // Some of the replies are there; then the connection ends.
  const std::string replies = client->read();
  EXPECT_THAT(replies, ::testing::StartsWith("HTTP/1.1 200"));
  EXPECT_THAT(replies, ::testing::Not(::testing::EndsWith("(timeout)")));
}

TEST_F(SlowClients, ThatReadNoEventsAreClosedAndTheirLinesCancelled) {
  const auto client = connect(/*receive_bytes=*/2048);
  ASSERT_TRUE(client->send(post("/v1/translate", long_stream())));
  ASSERT_TRUE(within(kMargin, [] { return !is_idle(); }));
  EXPECT_TRUE(within(std::chrono::seconds(20), [] { return is_idle(); }));
  EXPECT_THAT(client->read(), ::testing::Not(HasSubstr("event: end")));
}

TEST_F(SlowClients, ThatCloseInTheMiddleLeaveNothing) {
  const std::string stream = post("/v1/translate", long_stream());
  const std::string head = head_of_post("/translate", 1000);
  for (const bool resets : {false, true})
    for (const std::string& bytes : {head.substr(0, 20), head, head + "{\"q\":",
                                     post("/translate", {{"q", "Tom"}}), stream, many_requests()}) {
      const auto client = connect();
      if (resets) client->reset_at_end();
      ASSERT_TRUE(client->send_at_once(bytes));
    }
  {
    const auto client = connect();
    ASSERT_TRUE(client->send(stream));
    EXPECT_THAT(client->read("event: line"), HasSubstr("event: begin"));
  }
  EXPECT_TRUE(within(kMargin, [] { return is_idle(); }));
}

}  // namespace
}  // namespace fuselage::slow_clients_test
