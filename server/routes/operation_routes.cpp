#include "server/http/reply_json.h"
#include "server/routes/service.h"

namespace fuselage {

std::vector<HttpRoute> operation_routes(Service& service,
                                        const std::function<std::size_t()>& connections) {
  return {{.method = "GET",
           .path = "/health",
           .handle =
               [](const HttpRequest&) {
                 return json_reply({{"status", "ok"}});
               },
           .at_once = true},
          {.method = "GET",
           .path = "/metrics",
           .handle =
               [&service, connections](const HttpRequest&) {
                 const auto models = service.models().models();
                 return HttpReply{.type = "text/plain; version=0.0.4",
                                  .body = service.metrics().text(*models, connections())};
               },
           .at_once = true}};
}

}  // namespace fuselage
