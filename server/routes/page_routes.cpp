#include "server/page_files.h"
#include "server/routes/service.h"

namespace fuselage {

std::vector<HttpRoute> page_routes() {
  const auto spec = [](const HttpRequest&) { return HttpReply{.body = std::string(kOpenApi)}; };
  const auto page = [](const HttpRequest&) {
    HttpReply reply{.type = "text/html; charset=utf-8"};
    reply.body = kTranslatePage;
    // Everything is in the page, which talks to this server only.
    reply.headers = {{"Content-Security-Policy",
                      "default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'; "
                      "connect-src 'self'; img-src data:; base-uri 'none'; form-action 'none'; "
                      "frame-ancestors 'none'"}};
    return reply;
  };
  return {{"GET", "/", page}, {"GET", "/openapi.json", spec}, {"GET", "/spec", spec}};
}

}  // namespace fuselage
