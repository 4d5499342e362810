#include "server/routes/service.h"

#include <fmt/format.h>

#include <cmath>

#include "base/suggest.h"

namespace fuselage {
namespace {

/// nginx's status for a client that closed its connection. Nobody reads it but the log.
constexpr int kClientGone = 499;

std::string key_of(const HttpRequest& request, const RequestFields& fields) {
  constexpr std::string_view kBearer = "Bearer ";
  if (fields.has("api_key")) return fields.text("api_key");
  if (request.authorization.starts_with(kBearer))
    return request.authorization.substr(kBearer.size());
  return "";
}

[[noreturn]] void refuse_language(const std::string& code) {
  throw HttpError(
      400, fmt::format("{} is not supported; GET /languages lists the languages", in_quotes(code)));
}

[[noreturn]] void refuse_pair(const std::string& source, const std::string& target,
                              std::string_view advice = "") {
  throw HttpError(
      400, fmt::format("{} ({}) is not available as a target language from {} ({}){}",
                       language_name(target), target, language_name(source), source, advice));
}

/// The models for one of the languages that a text may be in, if there are any.
ChosenModel detected_model(const ModelSet& models, const std::string& target,
                           const std::vector<DetectedLanguage>& detected) {
  for (const DetectedLanguage& language : detected)
    for (const std::string& source : models.languages())
      if (is_same_language(source, language.code))
        if (const ModelRoute route = models.route(source, target); route.first != nullptr)
          return {route, language.confidence};
  return {{}, 0};
}

}  // namespace

Service::Service(ModelStore& models, ApiKeys keys, ServiceLimits limits, Log log)
    : models_(models), keys_(std::move(keys)), limits_(limits), log_(std::move(log)) {}

void Service::admit(const HttpRequest& request, const RequestFields& fields, int no_key) {
  std::string client = request.client;
  std::size_t per_minute = limits_.requests_per_minute;
  const std::string key = key_of(request, fields);
  if (keys_.are_required()) {
    if (key.empty())
      throw HttpError(no_key, "Please contact the server operator to get an API key");
    const ApiKeys::Key* const known = keys_.find(key);
    if (known == nullptr) throw HttpError(403, "Invalid API key");
    if (known->per_minute) {
      per_minute = *known->per_minute;
      client = "key " + key;
    }
  }
  const double wait = rates_.count(client, per_minute).count();
  if (wait > 0)
    throw HttpError(429, fmt::format("Slowdown: {} per 1 minute", per_minute),
                    {{"Retry-After", fmt::format("{:.0f}", std::ceil(wait))}});
}

HttpReply Service::answer(const HttpRequest& request, int no_key,
                          const std::function<HttpReply(const RequestFields&)>& handle) {
  try {
    const RequestFields fields(request);
    admit(request, fields, no_key);
    return handle(fields);
  } catch (const HttpError&) {
    throw;
  } catch (...) {
    throw as_http_error();
  }
}

HttpError Service::as_http_error() const {
  try {
    throw;
  } catch (const HttpError& error) {
    return error;
  } catch (const QueueFull&) {
    return {429, "Slowdown: too many lines wait for translation", {{"Retry-After", "1"}}};
  } catch (const DeadlinePassed&) {
    return {504, fmt::format("the text was not translated in {} seconds; send less at a time",
                             limits_.timeout.count() / 1000.0)};
  } catch (const Cancelled&) {
    return {503, "the translation was cancelled; try again", {{"Retry-After", "1"}}};
  } catch (const ClientGone& error) {
    return {kClientGone, error.what()};
  } catch (const std::exception& error) {
    if (log_) log_(fmt::format("a translation failed: {}", error.what()));
    return {500, "Cannot translate text"};
  }
}

LineLimits Service::line_limits(const HttpRequest& request) const {
  return {.deadline = std::chrono::steady_clock::now() + limits_.timeout,
          .is_wanted = request.is_connected};
}

ChosenModel choose_model(const ModelSet& models, const std::string& source,
                         const std::string& target, const std::string& text, bool html,
                         const std::vector<DetectedLanguage>& context) {
  // Of shorter texts nothing can be told for sure.
  constexpr std::size_t kShort = 40;
  if (!models.has_target(target)) refuse_language(target);
  if (source != "auto") {
    if (const ModelRoute route = models.route(source, target); route.first != nullptr)
      return {route};
    if (!models.has_source(source)) refuse_language(source);
    refuse_pair(source, target);
  }
  const auto own = detect_languages(text, html);
  const auto& detected = text.size() > kShort || context.empty() ? own : context;
  ChosenModel chosen = detected_model(models, target, detected);
  if (chosen.route.first == nullptr) chosen = detected_model(models, target, own);
  if (chosen.route.first != nullptr) return chosen;
  // With one model into the target a text is meant for it, unless it is surely in another language
  // of several.
  const ServedModel* only = nullptr;
  std::size_t count = 0;
  for (const auto& model : models.models())
    if (model->languages().target == target) {
      only = model.get();
      ++count;
    }
  const bool is_sure = text.size() > kShort && !detected.empty();
  if (count == 1 && (models.models().size() == 1 || !is_sure)) return {{only, nullptr}, 0};
  if (detected.empty())
    throw HttpError(400, "the language of the text cannot be told; state it as source");
  const std::string& code = detected[0].code;
  if (!models.has_source(code)) refuse_language(code);
  refuse_pair(code, target,
              ", the language that the text seems to be in; state its source if it is another");
}

}  // namespace fuselage
