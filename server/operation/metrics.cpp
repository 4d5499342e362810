#include "server/operation/metrics.h"

#include <fmt/format.h>

#include <functional>
#include <iterator>

#include "fuselage/base/version.h"

namespace fuselage {
namespace {

void write_header(std::string& text, std::string_view name, std::string_view type,
                  std::string_view help) {
  fmt::format_to(std::back_inserter(text), "# HELP fuselage_{0} {2}\n# TYPE fuselage_{0} {1}\n",
                 name, type, help);
}

template <typename... Values>
void write_value(std::string& text, fmt::format_string<Values...> format, Values&&... values) {
  text += "fuselage_";
  fmt::format_to(std::back_inserter(text), format, std::forward<Values>(values)...);
  text += '\n';
}

}  // namespace

void Metrics::add(const HttpExchange& exchange, const std::string& route) {
  const std::lock_guard lock(mutex_);
  ++requests_[{route, exchange.status}];
  Latency& latency = latencies_[route];
  const double seconds = exchange.seconds.count();
  ++latency.count;
  latency.seconds += seconds;
  for (std::size_t i = 0; i < kBounds.size(); ++i)
    if (seconds <= kBounds[i]) {
      ++latency.up_to[i];
      break;
    }
}

void Metrics::add(const LanguagePair& languages, const TranslatedCounts& counts) {
  const std::lock_guard lock(mutex_);
  TranslatedCounts& sum = translated_[to_string(languages)];
  sum.lines += counts.lines;
  sum.source_words += counts.source_words;
  sum.target_words += counts.target_words;
}

std::string Metrics::text(const ModelSet& models, std::size_t connections) const {
  std::string text;
  write_header(text, "build_info", "gauge", "The version of the program.");
  write_value(text, "build_info{{version=\"{}\"}} 1", version());
  write_header(text, "connections", "gauge", "Connections of clients.");
  write_value(text, "connections {}", connections);
  write_header(text, "reloads_total", "counter", "Times that the models were loaded again.");
  write_value(text, "reloads_total{{result=\"done\"}} {}", reloads_.load());
  write_value(text, "reloads_total{{result=\"failed\"}} {}", failed_reloads_.load());
  write_exchanges(text);
  write_translated(text);
  write_queues(text, models);
  return text;
}

void Metrics::write_exchanges(std::string& text) const {
  const std::lock_guard lock(mutex_);
  write_header(text, "http_requests_total", "counter", "Requests by path and status.");
  for (const auto& [key, count] : requests_)
    write_value(text, "http_requests_total{{route=\"{}\",status=\"{}\"}} {}", key.first, key.second,
                count);
  write_header(text, "http_request_seconds", "histogram",
               "Time from the first byte of a request to the last one of its reply.");
  for (const auto& [route, latency] : latencies_) {
    std::uint64_t sum = 0;
    for (std::size_t i = 0; i < kBounds.size(); ++i) {
      sum += latency.up_to[i];
      write_value(text, "http_request_seconds_bucket{{route=\"{}\",le=\"{}\"}} {}", route,
                  kBounds[i], sum);
    }
    write_value(text, "http_request_seconds_bucket{{route=\"{}\",le=\"+Inf\"}} {}", route,
                latency.count);
    write_value(text, "http_request_seconds_sum{{route=\"{}\"}} {}", route, latency.seconds);
    write_value(text, "http_request_seconds_count{{route=\"{}\"}} {}", route, latency.count);
  }
}

void Metrics::write_translated(std::string& text) const {
  const std::lock_guard lock(mutex_);
  const auto write = [&](std::string_view name, std::string_view help, auto member) {
    write_header(text, name, "counter", help);
    for (const auto& [languages, counts] : translated_)
      write_value(text, "{}{{model=\"{}\"}} {}", name, languages, counts.*member);
  };
  write("lines_total", "Lines that were translated.", &TranslatedCounts::lines);
  write("source_words_total", "Words of their sources, end symbols counted.",
        &TranslatedCounts::source_words);
  write("target_words_total", "Words of their best translations, end symbols counted.",
        &TranslatedCounts::target_words);
}

void Metrics::write_queues(std::string& text, const ModelSet& models) {
  std::map<std::string, QueueFigures> figures;
  for (const auto& model : models.models())
    figures[to_string(model->languages())] = model->queue().figures();
  const auto write = [&](std::string_view name, std::string_view type, std::string_view help,
                         const std::function<double(const QueueFigures&)>& value) {
    write_header(text, name, type, help);
    for (const auto& [languages, queue] : figures)
      write_value(text, "{}{{model=\"{}\"}} {}", name, languages, value(queue));
  };
  const auto number = [](auto value) { return static_cast<double>(value); };
  write("queue_waiting", "gauge", "Lines that wait.",
        [&](const QueueFigures& queue) { return number(queue.waiting); });
  write("queue_translating", "gauge", "Lines that are translated now.",
        [&](const QueueFigures& queue) { return number(queue.translating); });
  write("queue_places", "gauge", "Lines that can be translated at a time.",
        [&](const QueueFigures& queue) { return number(queue.places); });
  write("queue_threads", "gauge", "Threads that translate.",
        [&](const QueueFigures& queue) { return number(queue.threads); });
  write("queue_steps_total", "counter", "Steps of the decoder, of all threads.",
        [&](const QueueFigures& queue) { return number(queue.steps); });
  write("queue_sentence_steps_total", "counter", "Sum over the steps of the lines that took part.",
        [&](const QueueFigures& queue) { return number(queue.sentence_steps); });
  write("queue_occupancy", "gauge", "Average share of the places that took part in a step.",
        [&](const QueueFigures& queue) {
          const double most =
              number(queue.steps) * number(queue.places) / std::max(1.0, number(queue.threads));
          return most > 0 ? number(queue.sentence_steps) / most : 0;
        });
}

}  // namespace fuselage
