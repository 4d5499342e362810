#pragma once

#include <httplib.h>

#include <chrono>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "fuselage/models/bundled_model.h"
#include "server/translation_server.h"

namespace fuselage::support {

using TestJson = nlohmann::json;

/// The bundled model under the names of some languages.
inline ModelStore::Open bundled_as(std::vector<LanguagePair> pairs,
                                   const TranslatorOptions& options = {}) {
  return [pairs = std::move(pairs), options] {
    std::vector<OpenedModel> opened;
    for (const LanguagePair& pair : pairs)
      opened.push_back({pair, options.alignment, Translator(find_bundled_model(), options),
                        options.guided, [] { return std::string("<title>graph</title>"); }});
    return opened;
  };
}

/// The time that a client waits for an answer: an emulated processor may need it.
inline constexpr std::chrono::seconds kPatience(300);

/// A server on a free port, and a client of it.
class RunningServer {
 public:
  explicit RunningServer(ServerOptions options = {},
                         ModelStore::Open open = bundled_as({{"en", "de"}},
                                                            {.n_best = 4, .alignment = true}))
      : server_(std::move(open), on_free_port(std::move(options))),
        thread_([this] { server_.run(); }) {}
  ~RunningServer() { end(); }

  void end() {
    server_.stop();
    if (thread_.joinable()) thread_.join();
  }

  TranslationServer& server() { return server_; }
  httplib::Client client() const {
    httplib::Client client("127.0.0.1", server_.port());
    client.set_read_timeout(kPatience);
    return client;
  }

  struct Answer {
    int status = 0;
    TestJson json;
    httplib::Headers headers;
  };

  static Answer answer_of(const httplib::Result& result) {
    if (!result) return {};
    return {result->status, TestJson::parse(result->body, nullptr, false), result->headers};
  }
  Answer get(const std::string& path) const { return answer_of(client().Get(path)); }
  Answer post(const std::string& path, const TestJson& body) const {
    return answer_of(client().Post(path, body.dump(), "application/json"));
  }
  Answer post(const std::string& path, const std::string& body, const char* type) const {
    return answer_of(client().Post(path, body, type));
  }

 private:
  /// A limit of time for translations that a test does not state leaves an emulated processor time.
  static ServerOptions on_free_port(ServerOptions options) {
    options.http.port = 0;
    if (options.limits.timeout == ServiceLimits().timeout) options.limits.timeout = kPatience;
    return options;
  }

  TranslationServer server_;
  std::thread thread_;
};

}  // namespace fuselage::support
