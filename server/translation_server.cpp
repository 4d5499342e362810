#include "server/translation_server.h"

#include <fmt/format.h>

#include <set>
#include <utility>

#include "server/operation/access_log.h"

namespace fuselage {
namespace {

template <typename List>
void append(List& list, List more) {
  list.insert(list.end(), std::make_move_iterator(more.begin()),
              std::make_move_iterator(more.end()));
}

}  // namespace

class TranslationServer::Impl {
 public:
  Impl(ModelStore::Open open, const ServerOptions& options)
      : log_(options.log),
        access_(options.access_log),
        models_(std::move(open), options.queue),
        service_(models_, options.api_keys.empty() ? ApiKeys() : ApiKeys(options.api_keys),
                 options.limits, options.log),
        http_(options.http, routes(), [this](const HttpExchange& exchange) { observe(exchange); }) {
  }

  HttpServer& http() { return http_; }
  ModelStore& models() { return models_; }

  void reload() {
    try {
      access_.reopen();
      models_.reload();
      service_.metrics().add_reload(/*failed=*/false);
      log("the models were loaded again");
    } catch (const std::exception& error) {
      service_.metrics().add_reload(/*failed=*/true);
      log(fmt::format("the models were not loaded again: {}", error.what()));
    }
  }

 private:
  std::vector<HttpRoute> routes() {
    std::vector<HttpRoute> all = libretranslate_routes(service_);
    append(all, line_routes(service_));
    append(all, model_routes(service_));
    append(all, operation_routes(service_, [this] { return http_.connections(); }));
    append(all, page_routes());
    for (const HttpRoute& route : all) paths_.insert(route.path);
    return all;
  }

  /// Figures have one name for all paths that do not exist.
  void observe(const HttpExchange& exchange) {
    const bool known = paths_.contains(exchange.path);
    service_.metrics().add(exchange, known ? exchange.path : "other");
    access_.add(exchange);
  }

  void log(std::string_view note) const {
    if (log_) log_(note);
  }

  Log log_;
  AccessLog access_;
  ModelStore models_;
  Service service_;
  std::set<std::string> paths_;
  HttpServer http_;
};

TranslationServer::TranslationServer(ModelStore::Open open, const ServerOptions& options)
    : impl_(std::make_unique<Impl>(std::move(open), options)) {}

TranslationServer::~TranslationServer() = default;

int TranslationServer::port() const { return impl_->http().port(); }

std::size_t TranslationServer::connections() const { return impl_->http().connections(); }

std::shared_ptr<const ModelSet> TranslationServer::models() const {
  return impl_->models().models();
}

void TranslationServer::run() { impl_->http().run(); }

void TranslationServer::stop() { impl_->http().stop(); }

void TranslationServer::reload() { impl_->reload(); }

}  // namespace fuselage
