#include <algorithm>

#include "server/http/reply_json.h"
#include "server/requests/translate_request.h"
#include "server/routes/service.h"

namespace fuselage {
namespace {

/// LibreTranslate's status for a request without a key.
constexpr int kNoKey = 400;

std::string joined(const std::vector<std::string>& texts) {
  std::string all;
  for (const std::string& text : texts) all += text + "\n";
  return all;
}

Json language_json(const std::string& code) {
  return {{"code", code}, {"name", language_name(code)}};
}

/// Texts of the same models, and their places in the request.
struct ModelTexts {
  ModelRoute route;
  std::vector<std::size_t> places;
  std::vector<std::string> texts;
};

std::vector<ModelTexts> by_model(const std::vector<ChosenModel>& chosen,
                                 const std::vector<std::string>& texts) {
  std::vector<ModelTexts> groups;
  for (std::size_t i = 0; i < texts.size(); ++i) {
    auto group = std::ranges::find(groups, chosen[i].route, &ModelTexts::route);
    if (group == groups.end()) group = groups.insert(groups.end(), {chosen[i].route, {}, {}});
    group->places.push_back(i);
    group->texts.push_back(texts[i]);
  }
  return groups;
}

std::vector<TranslatedPage> translate_by_one(Service& service, const ServedModel& model,
                                             const std::vector<std::string>& texts,
                                             const TextOptions& options) {
  TranslatedCounts counts;
  auto pages = translate_texts(model, texts, options, counts);
  service.metrics().add(model.languages(), counts);
  return pages;
}

/// By way of another language, texts are translated twice, as by two requests.
std::vector<TranslatedPage> translate_on_route(Service& service, ModelTexts& group,
                                               const TextOptions& options) {
  if (group.route.second != nullptr) {
    TextOptions best = options;
    best.alternatives = 0;
    auto pages = translate_by_one(service, *group.route.first, group.texts, best);
    std::ranges::transform(pages, group.texts.begin(),
                           [](TranslatedPage& page) { return std::move(page.text); });
  }
  return translate_by_one(service, group.route.last(), group.texts, options);
}

std::vector<TranslatedPage> translate_by_models(Service& service, const HttpRequest& request,
                                                const TranslateRequest& wanted,
                                                const std::vector<ChosenModel>& chosen) {
  std::vector<TranslatedPage> pages(wanted.texts.size());
  const TextOptions options = {.html = wanted.html,
                               .alternatives = wanted.alternatives,
                               .limits = service.line_limits(request)};
  for (ModelTexts& group : by_model(chosen, wanted.texts)) {
    auto translated = translate_on_route(service, group, options);
    for (std::size_t i = 0; i < translated.size(); ++i)
      pages[group.places[i]] = std::move(translated[i]);
  }
  return pages;
}

/// One value for one text, a list for a list.
template <typename Value>
Json one_or_list(bool is_list, std::size_t count, const Value& value) {
  if (!is_list) return value(0);
  Json list = Json::array();
  for (std::size_t i = 0; i < count; ++i) list.push_back(value(i));
  return list;
}

HttpReply translate(Service& service, const HttpRequest& request, const RequestFields& fields) {
  const TranslateRequest wanted = read_translate_request(fields, service.limits().max_characters);
  const std::shared_ptr<const ModelSet> models = service.models().models();
  const bool is_auto = wanted.source == "auto";
  const auto context = is_auto && wanted.is_list
                           ? detect_languages(joined(wanted.texts), wanted.html)
                           : std::vector<DetectedLanguage>();
  std::vector<ChosenModel> chosen;
  for (const std::string& text : wanted.texts)
    chosen.push_back(
        choose_model(*models, wanted.source, wanted.target, text, wanted.html, context));
  const auto pages = translate_by_models(service, request, wanted, chosen);
  const auto many = [&](const auto& value) {
    return one_or_list(wanted.is_list, pages.size(), value);
  };
  Json reply = Json::object();
  if (wanted.alternatives > 0)
    reply["alternatives"] = many([&](std::size_t i) { return Json(pages[i].alternatives); });
  if (is_auto)
    reply["detectedLanguage"] = many([&](std::size_t i) {
      return Json{{"confidence", chosen[i].confidence},
                  {"language", chosen[i].route.languages().source}};
    });
  reply["translatedText"] = many([&](std::size_t i) { return Json(pages[i].text); });
  return json_reply(reply);
}

HttpReply detect(Service& service, const RequestFields& fields) {
  const std::vector<std::string> texts = fields.texts("q");
  if (joined(texts).size() <= texts.size())
    throw HttpError(400, "Invalid request: missing q parameter");
  const auto models = service.models().models();
  Json list = Json::array();
  for (const DetectedLanguage& language : detect_languages(joined(texts)))
    list.push_back({{"confidence", language.confidence}, {"language", language.code}});
  // Clients read the first one.
  if (list.empty())
    list.push_back(
        {{"confidence", 0.0}, {"language", models->models().front()->languages().source}});
  return json_reply(list);
}

HttpReply languages(Service& service) {
  const auto models = service.models().models();
  Json list = Json::array();
  for (const std::string& code : models->languages()) {
    Json language = language_json(code);
    language["targets"] = models->targets_of(code);
    list.push_back(std::move(language));
  }
  return json_reply(list);
}

HttpReply settings(Service& service) {
  const auto models = service.models().models();
  const std::size_t limit = service.limits().max_characters;
  const bool keys = service.keys().are_required();
  return json_reply({{"apiKeys", keys},
                     {"charLimit", limit > 0 ? static_cast<std::int64_t>(limit) : -1},
                     {"filesTranslation", false},
                     {"frontendTimeout", 500},
                     {"keyRequired", keys},
                     {"language",
                      {{"source", {{"code", "auto"}, {"name", "Auto Detect"}}},
                       {"target", language_json(models->models().front()->languages().target)}}},
                     {"suggestions", false},
                     {"supportedFilesFormat", Json::array()}});
}

}  // namespace

std::vector<HttpRoute> libretranslate_routes(Service& service) {
  return {
      {"POST", "/translate",
       [&service](const HttpRequest& request) {
         return service.answer(request, kNoKey, [&](const RequestFields& fields) {
           return translate(service, request, fields);
         });
       }},
      {"POST", "/detect",
       [&service](const HttpRequest& request) {
         return service.answer(
             request, kNoKey, [&](const RequestFields& fields) { return detect(service, fields); });
       }},
      {"GET", "/languages", [&service](const HttpRequest&) { return languages(service); }},
      {"GET", "/frontend/settings", [&service](const HttpRequest&) { return settings(service); }}};
}

}  // namespace fuselage
