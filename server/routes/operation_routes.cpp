#include "server/http/reply_json.h"
#include "server/routes/service.h"

namespace fuselage {

std::vector<HttpRoute> operation_routes(Service& service,
                                        const std::function<std::size_t()>& connections) {
  return {{"GET", "/health",
           [](const HttpRequest&) {
             return json_reply({{"status", "ok"}});
           }},
          {"GET", "/metrics", [&service, connections](const HttpRequest&) {
             const auto models = service.models().models();
             return HttpReply{.type = "text/plain; version=0.0.4",
                              .body = service.metrics().text(*models, connections())};
           }}};
}

}  // namespace fuselage
