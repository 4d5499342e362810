#include "server/page_files.h"
#include "server/routes/service.h"

namespace fuselage {

std::vector<HttpRoute> page_routes() {
  const auto spec = [](const HttpRequest&) { return HttpReply{.body = std::string(kOpenApi)}; };
  const auto page = [](const HttpRequest&) {
    HttpReply reply{.type = "text/html; charset=utf-8"};
    reply.body = kTranslatePage;
    reply.headers = {{"Content-Security-Policy", std::string(kPageSecurity)}};
    return reply;
  };
  return {{"GET", "/", page}, {"GET", "/openapi.json", spec}, {"GET", "/spec", spec}};
}

}  // namespace fuselage
