#include "server/http/http_server.h"

#include <fmt/format.h>
#include <httplib.h>
#include <sys/resource.h>

#include <algorithm>
#include <optional>
#include <utility>

#include "server/http/connection.h"
#include "server/http/connection_threads.h"
#include "server/http/crowd.h"
#include "server/http/listening_socket.h"
#include "server/http/reply_json.h"

namespace fuselage {
namespace {

using std::chrono::milliseconds;

constexpr std::size_t kMaxHead = std::size_t{32} << 10;
/// What chunks and the limits of parts add to a body.
constexpr std::size_t kFraming = std::size_t{64} << 10;
constexpr std::size_t kMaxParts = 64;
constexpr int kRequestsOfConnection = 1000;
/// How long an ending server waits for the first request of a connection.
constexpr milliseconds kStopGrace{1000};
constexpr milliseconds kSlice{100};
/// How long a request whose head has come may hold the thread that many connections share.
constexpr milliseconds kAtOnce{20};

/// The connection that this thread serves: httplib has no place for it in a request.
thread_local Connection* current_connection = nullptr;

/// Many systems let a program have 1024 descriptors unless it asks for more.
void ask_for_descriptors(std::size_t count) {
  rlimit limit{};
  if (::getrlimit(RLIMIT_NOFILE, &limit) != 0 || limit.rlim_cur >= count) return;
  limit.rlim_cur = std::min<rlim_t>(count, limit.rlim_max);
  ::setrlimit(RLIMIT_NOFILE, &limit);
}

std::string media_type(const std::string& content_type) {
  std::string type = content_type.substr(0, content_type.find(';'));
  std::erase_if(type, [](unsigned char c) { return std::isspace(c) != 0; });
  std::ranges::transform(type, type.begin(), [](unsigned char c) { return std::tolower(c); });
  return type;
}

std::string last_of_list(const std::string& list) {
  std::string last = list.substr(list.rfind(',') + 1);
  std::erase(last, ' ');
  return last;
}

/// Whether a text may stand for a client in a log.
bool is_visible(std::string_view text) {
  return !text.empty() && std::ranges::all_of(text, [](char c) { return c > ' ' && c < 0x7F; });
}

std::string_view message_of_status(int status) {
  switch (status) {
    case 400:
      return "the request is not a valid HTTP request";
    case 404:
      return "there is nothing at this path; GET /openapi.json lists the paths";
    case 408:
      return "the request did not arrive in time";
    case 413:
      return "the request is too large";
    case 414:
      return "the address of the request is too long";
    case 415:
      return "the encoding of the request is not known; send it as it is, or with gzip";
    case 416:
      return "the range of the request is not valid";
    case 431:
      return "the head of the request is too large";
    default:
      return "the request failed";
  }
}

}  // namespace

/// httplib reads requests and writes replies; connections and their threads are ours.
class HttpServer::Impl : private httplib::Server {
 public:
  Impl(HttpOptions options, std::vector<HttpRoute> routes, Observer observe)
      : options_(std::move(options)),
        routes_(std::move(routes)),
        observe_(std::move(observe)),
        listening_(options_.host, options_.port),
        threads_(options_.max_connections),
        crowd_(options_.request_timeout,
               [this](std::unique_ptr<Connection>& connection) { serve_at_once(connection); }) {
    ask_for_descriptors(2 * options_.max_connections + 2048);
    // httplib ends the replies of a server whose socket is invalid.
    svr_sock_ = listening_.descriptor();
    // It tells clients of these.
    set_keep_alive_max_count(kRequestsOfConnection);
    set_keep_alive_timeout(std::chrono::ceil<std::chrono::seconds>(options_.idle_timeout).count());
    set_handlers();
  }

  int port() const { return listening_.port(); }
  std::size_t connections() const { return threads_.count(); }

  void run() {
    for (int socket = listening_.accept(); socket >= 0; socket = listening_.accept()) {
      auto connection = std::make_unique<Connection>(socket, options_.write_timeout);
      if (threads_.make_place())
        start(std::move(connection));
      else
        crowd_.add(std::move(connection));
    }
    crowd_.stop();
    threads_.wait_for_end();
  }

  void stop() {
    threads_.stop();
    listening_.stop();
  }

 private:
  void set_handlers() {
    set_pre_routing_handler([this](const httplib::Request& request, httplib::Response& response) {
      return answer_without_body(request, response);
    });
    for (const HttpRoute& route : routes_)
      if (route.method == "POST")
        Post(route.path,
             [this, &route](const httplib::Request& request, httplib::Response& response,
                            const httplib::ContentReader& read) {
               answer_with_body(route, request, response, read);
             });
    set_error_handler(HandlerWithResponse(
        [](const httplib::Request&, httplib::Response& response) { return explain(response); }));
    set_expect_100_continue_handler(
        [this](const httplib::Request& request, httplib::Response& response) {
          if (is_too_large(request)) response.status = 413;
          return response.status == 413 ? 413 : 100;
        });
    set_logger([this](const httplib::Request& request, const httplib::Response& response) {
      observe(request, response);
    });
  }

  void start(std::unique_ptr<Connection> connection) {
    threads_.start(std::move(connection), [this](Connection& served) { serve(served); });
  }

  /// A connection beyond those that have threads: it gets one if there is a place now.
  void serve_at_once(std::unique_ptr<Connection>& connection) {
    if (threads_.make_place()) return start(std::move(connection));
    current_connection = connection.get();
    connection->set_crowded();
    connection->begin_request(kMaxHead, kAtOnce);
    bool closed = false;
    process_request(*connection, /*close_connection=*/true, closed,
                    [](httplib::Request& read) { read.ranges.clear(); });
    current_connection = nullptr;
  }

  void serve(Connection& connection) {
    current_connection = &connection;
    for (int request = 0; request < kRequestsOfConnection; ++request) {
      if (!wait_for_request(connection, request == 0)) break;
      connection.begin_request(kMaxHead, options_.request_timeout);
      const bool last = threads_.is_stopped() || connection.stopped_reading() ||
                        request + 1 == kRequestsOfConnection;
      bool closed = false;
      const bool answered = process_request(connection, last, closed, [](httplib::Request& read) {
        // Replies are made for each request: there are no parts of them.
        read.ranges.clear();
      });
      if (!answered && connection.timed_out() && !connection.has_replied())
        refuse_late_line(connection);
      if (!answered || closed || last || connection.ends()) break;
    }
    connection.finish();
    current_connection = nullptr;
  }

  /// httplib has no reply for a client whose first line did not arrive in time.
  void refuse_late_line(Connection& connection) const {
    constexpr int kStatus = 408;
    const std::string body = error_json(std::string(message_of_status(kStatus)));
    const std::string reply = fmt::format(
        "HTTP/1.1 {} Request Timeout\r\nServer: fuselage\r\nContent-Type: application/json\r\n"
        "Content-Length: {}\r\nConnection: close\r\n\r\n{}",
        kStatus, body.size(), body);
    connection.write(reply.data(), reply.size());
    if (!observe_) return;
    observe_({.client = connection.client(),
              .method = {},
              .path = {},
              .status = kStatus,
              .bytes = body.size(),
              .seconds = Connection::Clock::now() - connection.began()});
  }

  bool wait_for_request(Connection& connection, bool first) {
    if (!first) {
      if (!threads_.set_waiting(connection, true)) return false;
      const bool came = connection.wait_for_request(options_.idle_timeout);
      return threads_.set_waiting(connection, false) && came;
    }
    for (milliseconds waited{0}; waited < options_.idle_timeout; waited += kSlice) {
      if (connection.wait_for_request(kSlice)) return true;
      if (!connection.is_connected() || (threads_.is_stopped() && waited >= kStopGrace)) break;
    }
    return false;
  }

  /// Whether it is clear where the body ends.
  static bool is_framed(const httplib::Request& request) {
    const std::size_t lengths = request.get_header_value_count("Content-Length");
    const bool chunked = request.has_header("Transfer-Encoding");
    const std::string length = request.get_header_value("Content-Length");
    return lengths + (chunked ? 1 : 0) <= 1 &&
           length.find_first_not_of("0123456789") == std::string::npos &&
           (!chunked || request.get_header_value("Transfer-Encoding") == "chunked");
  }

  bool is_too_large(const httplib::Request& request) const {
    const std::string length = request.get_header_value("Content-Length");
    return length.size() > 15 ||
           (!length.empty() && std::strtoull(length.c_str(), nullptr, 10) > options_.max_body);
  }

  /// As a proxy names it, if there is one.
  std::string client_of(const httplib::Request& request) const {
    const char* const header = "X-Forwarded-For";
    const std::size_t count = options_.behind_proxy ? request.get_header_value_count(header) : 0;
    if (count == 0) return request.remote_addr;
    const std::string name = last_of_list(request.get_header_value(header, count - 1));
    return is_visible(name) ? name : request.remote_addr;
  }

  HttpRequest plain_request(const httplib::Request& request) const {
    return {
        .method = request.method,
        .path = request.path,
        .content_type = media_type(request.get_header_value("Content-Type")),
        .authorization = request.get_header_value("Authorization"),
        .client = client_of(request),
        .body = {},
        .parts = {},
        .query = HttpFields(request.params.begin(), request.params.end()),
        .is_connected = [connection = current_connection] { return connection->is_connected(); }};
  }

  /// Answers whatever needs no body. A request whose body is not read is the connection's last.
  HandlerResponse answer_without_body(const httplib::Request& request,
                                      httplib::Response& response) {
    current_connection->begin_body(options_.max_body + kFraming);
    add_common_headers(response);
    const std::string method = request.method == "HEAD" ? "GET" : request.method;
    std::string allowed = "OPTIONS";
    const HttpRoute* route = nullptr;
    for (const HttpRoute& candidate : routes_) {
      if (candidate.path != request.path) continue;
      allowed += ", " + candidate.method;
      if (candidate.method == method) route = &candidate;
    }
    const bool has_body =
        request.has_header("Transfer-Encoding") ||
        (request.has_header("Content-Length") && request.get_header_value("Content-Length") != "0");
    const bool framed = is_framed(request);
    if (route != nullptr && route->method == "POST" && has_body && framed &&
        !is_too_large(request) && !current_connection->is_crowded())
      return HandlerResponse::Unhandled;
    if (has_body) end_after(response);
    if (current_connection->is_crowded() && (route == nullptr || !route->at_once))
      refuse(
          HttpError(429, "Slowdown: the server has too many connections", {{"Retry-After", "1"}}),
          response);
    else if (!framed)
      response.status = 400;
    else if (allowed == "OPTIONS")
      response.status = 404;
    else if (request.method == "OPTIONS")
      answer_options(allowed, response);
    else if (route == nullptr)
      refuse(
          HttpError(405, fmt::format("{} is not possible here, but {} is", request.method, allowed),
                    {{"Allow", allowed}}),
          response);
    else if (has_body && route->method == "POST")
      refuse(HttpError(413, fmt::format("the request has more than {} bytes; send less at a time",
                                        options_.max_body)),
             response);
    else
      answer(*route, plain_request(request), response);
    return HandlerResponse::Handled;
  }

  void answer_options(const std::string& allowed, httplib::Response& response) const {
    response.status = 204;
    response.set_header("Allow", allowed);
    if (options_.allow_origin.empty()) return;
    response.set_header("Access-Control-Allow-Methods", allowed);
    response.set_header("Access-Control-Allow-Headers", "Authorization, Content-Type");
    response.set_header("Access-Control-Max-Age", "86400");
  }

  void add_common_headers(httplib::Response& response) const {
    response.set_header("Server", "fuselage");
    response.set_header("X-Content-Type-Options", "nosniff");
    if (!options_.allow_origin.empty())
      response.set_header("Access-Control-Allow-Origin", options_.allow_origin);
  }

  static void end_after(httplib::Response& response) {
    current_connection->end_after_reply();
    response.set_header("Connection", "close");
  }

  void answer_with_body(const HttpRoute& route, const httplib::Request& request,
                        httplib::Response& response, const httplib::ContentReader& read) {
    HttpRequest plain = plain_request(request);
    std::size_t bytes = 0;
    const auto add = [&](std::string& to, const char* piece, std::size_t size) {
      bytes += size;
      if (bytes > options_.max_body) return false;
      to.append(piece, size);
      return true;
    };
    const bool whole =
        request.is_multipart_form_data()
            ? read(
                  [&](const httplib::MultipartFormData& part) {
                    plain.parts.emplace_back(part.name, "");
                    return plain.parts.size() <= kMaxParts;
                  },
                  [&](const char* piece, std::size_t size) {
                    return !plain.parts.empty() && add(plain.parts.back().second, piece, size);
                  })
            : read([&](const char* piece, std::size_t size) {
                return add(plain.body, piece, size);
              });
    if (whole) return answer(route, plain, response);
    end_after(response);
    if (bytes > options_.max_body || current_connection->too_large()) response.status = 413;
    if (current_connection->timed_out()) response.status = 408;
    if (response.status < 400) response.status = 400;
  }

  void answer(const HttpRoute& route, const HttpRequest& request, httplib::Response& response) {
    try {
      send(route.handle(request), response);
    } catch (const HttpError& error) {
      refuse(error, response);
    } catch (const std::exception&) {
      refuse(HttpError(500, "the server failed"), response);
    }
  }

  static void send(HttpReply reply, httplib::Response& response) {
    response.status = reply.status;
    for (const auto& [name, value] : reply.headers) response.set_header(name, value);
    if (!reply.stream) return response.set_content(reply.body, reply.type);
    response.set_chunked_content_provider(
        reply.type, [stream = std::move(reply.stream)](std::size_t, httplib::DataSink& sink) {
          stream([&sink](std::string_view piece) {
            return sink.is_writable() && sink.write(piece.data(), piece.size());
          });
          sink.done();
          return true;
        });
  }

  static void refuse(const HttpError& error, httplib::Response& response) {
    send({.status = error.status(), .body = error_json(error.what()), .headers = error.headers()},
         response);
  }

  /// The body of a reply that httplib makes by itself, such as one to a malformed request.
  static HandlerResponse explain(httplib::Response& response) {
    if (!response.body.empty()) return HandlerResponse::Unhandled;
    if (current_connection->too_large() && response.status == 400) response.status = 431;
    if (current_connection->timed_out() && response.status == 400) response.status = 408;
    if (response.status != 404) current_connection->end_after_reply();
    response.set_content(error_json(std::string(message_of_status(response.status))),
                         "application/json");
    return HandlerResponse::Handled;
  }

  void observe(const httplib::Request& request, const httplib::Response& response) const {
    if (!observe_) return;
    observe_({.client = request.remote_addr.empty() ? current_connection->client()
                                                    : plain_request(request).client,
              .method = request.method,
              .path = request.path,
              .status = response.status,
              .bytes = response.body.size(),
              .seconds = Connection::Clock::now() - current_connection->began()});
  }

  HttpOptions options_;
  std::vector<HttpRoute> routes_;
  Observer observe_;
  ListeningSocket listening_;
  ConnectionThreads threads_;
  Crowd crowd_;
};

HttpServer::HttpServer(HttpOptions options, std::vector<HttpRoute> routes, Observer observe)
    : impl_(std::make_unique<Impl>(std::move(options), std::move(routes), std::move(observe))) {}

HttpServer::~HttpServer() { impl_->stop(); }

int HttpServer::port() const { return impl_->port(); }

std::size_t HttpServer::connections() const { return impl_->connections(); }

void HttpServer::run() { impl_->run(); }

void HttpServer::stop() { impl_->stop(); }

}  // namespace fuselage
