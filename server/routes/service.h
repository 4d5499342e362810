#pragma once

#include <chrono>
#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "fuselage/base/log.h"
#include "server/http/message.h"
#include "server/limits/api_keys.h"
#include "server/limits/rate_limiter.h"
#include "server/models/model_store.h"
#include "server/operation/metrics.h"
#include "server/requests/request_fields.h"
#include "server/text/language_detector.h"
#include "server/text/text_translator.h"

namespace fuselage {

/// Limits of translations.
struct ServiceLimits {
  std::size_t max_characters = 50'000;        ///< of the texts of a request; 0: any number
  std::size_t requests_per_minute = 0;        ///< of a client; 0: any number
  std::chrono::milliseconds timeout{60'000};  ///< of a translation
};

/// What the routes share. All members are thread-safe.
class Service {
 public:
  Service(ModelStore& models, ApiKeys keys, ServiceLimits limits, Log log);

  ModelStore& models() { return models_; }
  Metrics& metrics() { return metrics_; }
  const ApiKeys& keys() const { return keys_; }
  const ServiceLimits& limits() const { return limits_; }

  /// Answers a request for a client who may make it. Throws HttpError for a key that is missing
  /// (`no_key`) or wrong, for too many requests, and in place of the errors of translation. Unknown
  /// errors go to the log, since they may show what clients should not see.
  HttpReply answer(const HttpRequest& request, int no_key,
                   const std::function<HttpReply(const RequestFields&)>& handle);
  /// The HttpError for the present exception, which goes to the log if it is unknown.
  HttpError as_http_error() const;

  LineLimits line_limits(const HttpRequest& request) const;

 private:
  void admit(const HttpRequest& request, const RequestFields& fields, int no_key);

  ModelStore& models_;
  ApiKeys keys_;
  ServiceLimits limits_;
  Log log_;
  RateLimiter rates_;
  Metrics metrics_;
};

/// The models of a request, and how likely its source language is where the client did not state
/// it.
struct ChosenModel {
  ModelRoute route;
  double confidence = 100;
};

/// The models for a text in `source`, or in a language that is found out if that is "auto". Of a
/// short text nothing can be told; it is taken to be in the language of `context`. Throws HttpError
/// 400 for languages that no model has.
ChosenModel choose_model(const ModelSet& models, const std::string& source,
                         const std::string& target, const std::string& text, bool html,
                         const std::vector<DetectedLanguage>& context);

/// The status of our own routes for a request without a key.
inline constexpr int kUnauthorized = 401;

/// What browsers let a page do: everything is in it, and it talks to this server only.
inline constexpr std::string_view kPageSecurity =
    "default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'; "
    "connect-src 'self'; img-src data:; base-uri 'none'; form-action 'none'; "
    "frame-ancestors 'none'";

std::vector<HttpRoute> libretranslate_routes(Service& service);
std::vector<HttpRoute> line_routes(Service& service);
std::vector<HttpRoute> model_routes(Service& service);
std::vector<HttpRoute> operation_routes(Service& service,
                                        const std::function<std::size_t()>& connections);
std::vector<HttpRoute> page_routes();

}  // namespace fuselage
