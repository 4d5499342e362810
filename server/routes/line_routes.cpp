#include <fmt/format.h>

#include <algorithm>

#include "base/classic_locale.h"
#include "decoding/output_json.h"
#include "server/http/reply_json.h"
#include "server/requests/translate_request.h"
#include "server/routes/service.h"

namespace fuselage {
namespace {

constexpr int kUnauthorized = 401;

std::string_view oddity_name(LineOddity oddity) {
  switch (oddity) {
    case LineOddity::empty:
      return "empty";
    case LineOddity::invalid_text:
      return "invalid_text";
    case LineOddity::too_long:
      return "too_long";
    case LineOddity::too_large:
      return "too_large";
    case LineOddity::line_break:
      return "line_break";
  }
  return "";
}

/// A line as `fuselage translate --n-best --json` prints it, with notes on its source.
Json line_json(std::size_t line, Translation translation, const LinesRequest& wanted) {
  if (translation.n_best.size() > wanted.n_best) translation.n_best.resize(wanted.n_best);
  OutputFormat format{.n_best = true, .word_scores = wanted.word_scores, .json = true};
  if (wanted.alignment) format.alignment = AlignmentFormat{};
  const ClassicLocale classic;
  Json json = Json::parse(json_line(line, translation, format));
  if (translation.oddities.empty()) return json;
  Json notes = Json::array();
  for (const LineOddity oddity : translation.oddities) notes.push_back(oddity_name(oddity));
  json["notes"] = std::move(notes);
  return json;
}

std::string event(std::string_view name, const Json& data) {
  return fmt::format("event: {}\ndata: {}\n\n", name, json_text(data));
}

/// A request that is under way. The lines end before their models.
struct LineWork {
  std::shared_ptr<const ModelSet> models = nullptr;
  ModelRoute route = {};
  LinesRequest wanted = {};
  LineLimits limits = {};
  TranslatedCounts first_counts = {}, counts = {};  ///< of both models; of one: the second of these
  std::unique_ptr<LineJobs> jobs = nullptr;

  Json about() const {
    return {{"source", route.languages().source}, {"target", route.languages().target}};
  }

  /// By way of another language, all lines are translated into that one first.
  void run(const LineJobs::Each& each) {
    if (route.second != nullptr) enter_second_model();
    jobs->run([&](std::size_t line, Translation&& translation) {
      counts.add(translation);
      if (route.second != nullptr) keep_oddities(line, translation);
      each(line, std::move(translation));
    });
  }

  void count(Metrics& metrics) const {
    if (route.second != nullptr) metrics.add(route.first->languages(), first_counts);
    metrics.add(route.last().languages(), counts);
  }

 private:
  std::vector<std::vector<LineOddity>> oddities_ = {};

  void enter_second_model() {
    std::vector<std::string> between(wanted.lines.size());
    oddities_.resize(between.size());
    jobs->run([&](std::size_t line, Translation&& translation) {
      first_counts.add(translation);
      between[line] = translation.text();
      oddities_[line] = translation.oddities;
    });
    jobs = std::make_unique<LineJobs>(route.second->queue(), std::move(between), limits);
  }

  /// Notes are on the source, of which the first model knows.
  void keep_oddities(std::size_t line, Translation& translation) {
    for (const LineOddity oddity : translation.oddities)
      if (std::ranges::find(oddities_[line], oddity) == oddities_[line].end())
        oddities_[line].push_back(oddity);
    translation.oddities = std::move(oddities_[line]);
  }
};

std::shared_ptr<LineWork> begin(Service& service, const HttpRequest& request,
                                const RequestFields& fields) {
  auto work = std::make_shared<LineWork>();
  LinesRequest& wanted = work->wanted;
  wanted = read_lines_request(fields, service.limits().max_characters);
  std::string text;
  for (const std::string& line : wanted.lines) text += line + "\n";
  work->models = service.models().models();
  work->route =
      choose_model(*work->models, wanted.source, wanted.target, text, /*html=*/false, {}).route;
  const bool pivots = work->route.second != nullptr;
  if (wanted.alignment && (pivots || !work->route.first->has_alignment()))
    throw HttpError(
        400, fmt::format("there are no alignments of {}: {}", to_string(work->route.languages()),
                         pivots ? "it is translated by way of another language"
                                : "the model has none, or the server runs without them"));
  work->limits = service.line_limits(request);
  work->jobs = std::make_unique<LineJobs>(work->route.first->queue(), wanted.lines, work->limits);
  return work;
}

HttpReply whole_reply(Service& service, LineWork& work) {
  std::vector<Json> lines(work.wanted.lines.size());
  work.run([&](std::size_t line, Translation&& translation) {
    lines[line] = line_json(line, std::move(translation), work.wanted);
  });
  work.count(service.metrics());
  Json reply = work.about();
  reply["lines"] = std::move(lines);
  return json_reply(reply);
}

void send_events(Service& service, LineWork& work, const HttpReply::Send& send) {
  const auto emit = [&](std::string_view name, const Json& data) {
    if (!send(event(name, data))) throw ClientGone();
  };
  try {
    emit("begin", work.about());
    work.run([&](std::size_t line, Translation&& translation) {
      emit("line", line_json(line, std::move(translation), work.wanted));
    });
    emit("end", {{"lines", work.wanted.lines.size()}});
  } catch (...) {
    // A client that is gone gets nothing any more.
    send(event("error", {{"error", service.as_http_error().what()}}));
  }
  work.count(service.metrics());
}

}  // namespace

std::vector<HttpRoute> line_routes(Service& service) {
  const auto translate = [&service](const HttpRequest& request, const RequestFields& fields) {
    const std::shared_ptr<LineWork> work = begin(service, request, fields);
    if (!work->wanted.stream) return whole_reply(service, *work);
    return HttpReply{.type = "text/event-stream",
                     .headers = {{"Cache-Control", "no-store"}, {"X-Accel-Buffering", "no"}},
                     .stream = [&service, work](const HttpReply::Send& send) {
                       send_events(service, *work, send);
                     }};
  };
  return {{"POST", "/v1/translate", [&service, translate](const HttpRequest& request) {
             return service.answer(request, kUnauthorized, [&](const RequestFields& fields) {
               return translate(request, fields);
             });
           }}};
}

}  // namespace fuselage
