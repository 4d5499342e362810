#pragma once

#include <memory>
#include <string>

#include "fuselage/base/log.h"
#include "server/http/http_server.h"
#include "server/models/model_store.h"
#include "server/routes/service.h"

namespace fuselage {

struct ServerOptions {
  HttpOptions http = {};
  ServiceLimits limits = {};
  QueueOptions queue = {};
  std::string api_keys = {};    ///< path of a file; empty: no keys
  std::string access_log = {};  ///< as AccessLog's
  Log log = {};
};

/// A server of translations: HTTP routes on queues of models (docs/serve.md).
class TranslationServer {
 public:
  /// Opens the models and listens. Throws their errors, and those of ApiKeys, AccessLog and
  /// HttpServer.
  TranslationServer(ModelStore::Open open, const ServerOptions& options);
  ~TranslationServer();
  TranslationServer(const TranslationServer&) = delete;
  TranslationServer& operator=(const TranslationServer&) = delete;

  int port() const;
  /// Connections that have a thread now.
  std::size_t connections() const;
  std::shared_ptr<const ModelSet> models() const;

  /// Serves until stop(), and until all that was accepted is answered.
  void run();
  /// May be called from any thread.
  void stop();
  /// Opens the models and the access log again. If that fails, the present models stay, and the
  /// log has the reason.
  void reload();

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace fuselage
