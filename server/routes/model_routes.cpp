#include <fmt/format.h>

#include "server/http/reply_json.h"
#include "server/routes/service.h"

namespace fuselage {
namespace {

/// The page of a graph shows what anyone may see of a server that has no keys.
bool shows_graph(const Service& service, const ServedModel& model) {
  return model.graph_page() != nullptr && !service.keys().are_required();
}

HttpReply models(Service& service) {
  const auto models = service.models().models();
  Json list = Json::array();
  for (const auto& model : models->models())
    list.push_back({{"source", model->languages().source},
                    {"target", model->languages().target},
                    {"n_best", model->n_best()},
                    {"alignment", model->has_alignment()},
                    {"prefix", model->has_guides()},
                    {"graph", shows_graph(service, *model)}});
  return json_reply(list);
}

HttpReply graph(Service& service, const RequestFields& fields) {
  const auto models = service.models().models();
  const LanguagePair pair{fields.text("source"), fields.text("target")};
  const ServedModel* const model = pair.source.empty() && pair.target.empty()
                                       ? models->models().front().get()
                                       : models->find(pair.source, pair.target);
  if (model == nullptr)
    throw HttpError(404, fmt::format("there is no model of {}; GET /v1/models lists the models",
                                     to_string(pair)));
  if (!shows_graph(service, *model))
    throw HttpError(404, "this server does not show the graphs of its models");
  HttpReply reply{.type = "text/html; charset=utf-8", .body = model->graph_page()()};
  reply.headers = {{"Content-Security-Policy", std::string(kPageSecurity)},
                   {"Cache-Control", "no-store"}};
  return reply;
}

}  // namespace

std::vector<HttpRoute> model_routes(Service& service) {
  return {{"GET", "/v1/models", [&service](const HttpRequest&) { return models(service); }},
          {"GET", "/graph", [&service](const HttpRequest& request) {
             return service.answer(request, kUnauthorized, [&](const RequestFields& fields) {
               return graph(service, fields);
             });
           }}};
}

}  // namespace fuselage
