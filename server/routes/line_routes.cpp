#include <fmt/format.h>

#include <algorithm>

#include "server/http/reply_json.h"
#include "server/requests/translate_request.h"
#include "server/routes/line_json.h"
#include "server/routes/service.h"
#include "server/text/sentences.h"

namespace fuselage {
namespace {

std::string event(std::string_view name, const Json& data) {
  return fmt::format("event: {}\ndata: {}\n\n", name, json_text(data));
}

/// A request that is under way. The lines end before their models.
struct LineWork {
  std::shared_ptr<const ModelSet> models = nullptr;
  ModelRoute route = {};
  LinesRequest wanted = {};
  std::vector<PlacedSentence> sentences = {};  ///< with LinesRequest::sentences
  LineLimits limits = {};
  TranslatedCounts first_counts = {}, counts = {};  ///< of both models; of one: the second of these
  std::unique_ptr<LineJobs> jobs = nullptr;

  bool pivots() const { return route.second != nullptr; }
  std::size_t size() const { return wanted.sentences ? sentences.size() : wanted.lines.size(); }
  const std::string& line(std::size_t number) const {
    return wanted.sentences ? sentences[number].text : wanted.lines[number];
  }

  Json about() const {
    return {{"source", route.languages().source}, {"target", route.languages().target}};
  }

  /// Submits the first lines.
  void start() {
    std::vector<std::string> lines;
    for (std::size_t i = 0; i < size(); ++i) lines.push_back(line(i));
    submit(*route.first, std::move(lines), /*last=*/!pivots());
  }

  /// Calls `each` for each line that is done, with its JSON. By way of another language, all lines
  /// are translated into that one first.
  void run(const std::function<void(std::size_t, Json&&)>& each) {
    if (pivots()) enter_second_model();
    jobs->run([&](std::size_t number, Translation&& translation) {
      counts.add(translation);
      if (pivots()) keep_oddities(number, translation);
      ShownLine shown{.number = number, .text = line(number), .prefix = {}};
      if (!wanted.prefixes.empty()) shown.prefix = wanted.prefixes[number];
      if (wanted.sentences) {
        shown.whole = wanted.lines.front();
        shown.place = sentences[number].place;
      }
      each(number,
           line_json(shown, std::move(translation), wanted, pivots() ? nullptr : route.first));
    });
  }

  void count(Metrics& metrics) const {
    if (pivots()) metrics.add(route.first->languages(), first_counts);
    metrics.add(route.last().languages(), counts);
  }

 private:
  std::vector<std::vector<LineOddity>> oddities_ = {};

  void submit(const ServedModel& model, std::vector<std::string> texts, bool last) {
    std::vector<JobLine> lines;
    for (std::size_t i = 0; i < texts.size(); ++i)
      lines.push_back({std::move(texts[i]),
                       model.guide(last ? wanted.n_best : 1,
                                   last && !wanted.prefixes.empty() ? wanted.prefixes[i] : "")});
    jobs = std::make_unique<LineJobs>(model.queue(), std::move(lines), limits);
  }

  void enter_second_model() {
    std::vector<std::string> between(size());
    oddities_.resize(between.size());
    jobs->run([&](std::size_t number, Translation&& translation) {
      first_counts.add(translation);
      between[number] = translation.text();
      oddities_[number] = translation.oddities;
    });
    submit(*route.second, std::move(between), /*last=*/true);
  }

  /// Notes are on the source, of which the first model knows.
  void keep_oddities(std::size_t number, Translation& translation) {
    for (const LineOddity oddity : translation.oddities)
      if (std::ranges::find(oddities_[number], oddity) == oddities_[number].end())
        oddities_[number].push_back(oddity);
    translation.oddities = std::move(oddities_[number]);
  }
};

/// Throws HttpError 400 for what the models cannot do.
void expect_possible(const LineWork& work) {
  const LinesRequest& wanted = work.wanted;
  const std::string pair = to_string(work.route.languages());
  if ((wanted.alignment || wanted.tokens) && work.pivots())
    throw HttpError(400, fmt::format("there are no {} of {}: it is translated by way of another "
                                     "language",
                                     wanted.alignment ? "alignments" : "tokens", pair));
  if (wanted.alignment && !work.route.first->has_alignment())
    throw HttpError(400, fmt::format("there are no alignments of {}: the model has none, or the "
                                     "server runs on a GPU without them",
                                     pair));
  if (wanted.prefixes.empty()) return;
  if (!work.route.last().has_guides())
    throw HttpError(400, fmt::format("translations of {} cannot begin with a prefix: GET "
                                     "/v1/models lists those that can",
                                     pair));
  if (wanted.prefixes.size() != work.size())
    throw HttpError(
        400,
        fmt::format("Invalid request: there are {} lines, and {} prefix{} for them; 'prefix' has "
                    "one for each line, which may be empty",
                    work.size(), wanted.prefixes.size(), wanted.prefixes.size() == 1 ? "" : "es"));
}

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
  if (wanted.sentences)
    work->sentences = placed_sentences(*work->route.first, wanted.lines.front());
  expect_possible(*work);
  work->limits = service.line_limits(request);
  work->start();
  return work;
}

HttpReply whole_reply(Service& service, LineWork& work) {
  std::vector<Json> lines(work.size());
  work.run([&](std::size_t number, Json&& line) { lines[number] = std::move(line); });
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
    work.run([&](std::size_t, Json&& line) { emit("line", line); });
    emit("end", {{"lines", work.size()}});
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
