#include <fmt/format.h>
#include <unistd.h>

#include <csignal>
#include <cstdio>
#include <exception>
#include <memory>
#include <string>
#include <thread>
#include <utility>

#include "server/translation_server.h"
#include "tools/commands/commands.h"
#include "tools/commands/translation/misplaced_options.h"
#include "tools/commands/translation/served_models.h"
#include "tools/options/files.h"
#include "tools/options/model_command_options.h"
#include "tools/options/number_options.h"

namespace fuselage {
namespace {

constexpr double kMaxSeconds = 86400;

/// The signals that end the server or reload its models. They are blocked from before the first
/// thread starts, and taken by one thread.
class ServerSignals {
 public:
  ServerSignals() {
    sigemptyset(&set_);
    for (const int signal : {SIGTERM, SIGINT, SIGHUP}) sigaddset(&set_, signal);
    ::pthread_sigmask(SIG_BLOCK, &set_, nullptr);
  }
  int wait() const {
    int signal = 0;
    while (::sigwait(&set_, &signal) != 0) continue;
    return signal;
  }

 private:
  sigset_t set_;
};

class ServeCommand : public Command {
 public:
  ServeCommand();
  int run() override;

 private:
  void add_network_options();
  void add_limit_options();
  void finish();

  ServedModelOptions models_;
  ServerOptions server_;
  double timeout_ = 60, request_timeout_ = 10, reply_timeout_ = 10;
  std::size_t max_request_kb_ = 1024;
  bool quiet_ = false;
};

ServeCommand::ServeCommand()
    : Command("serve",
              "Serve translations over HTTP: the routes of LibreTranslate, /v1/translate with "
              "scores, and a page for browsers. SIGTERM ends the server when all requests are "
              "answered; SIGHUP loads the models again.",
              {{"fuselage serve", "The bundled models, at http://127.0.0.1:5000."},
               {"fuselage serve --models models --host 0.0.0.0 --api-keys keys.txt",
                "All models of a folder, for clients with a key."},
               {"fuselage serve -m models/en-de --translate -b 2 --cpu-threads 4",
                "A model with options of `fuselage translate`."}}) {
  options().begin_group(kModelGroup);
  CLI::App& app = options().app();
  CLI::Option* model = app.add_option("-m,--model", models_.model, "The model, of any format")
                           ->type_name("PATH")
                           ->default_str("the bundled models");
  app.add_option("--models", models_.folder,
                 "A folder of models, each a folder of its own or a package of Argos Translate")
      ->type_name("FOLDER")
      ->excludes(model);
  app.add_option("--languages", models_.languages,
                 "Languages of the model, as en-de, where neither the model nor the name of its "
                 "folder tells them")
      ->type_name("PAIR");
  add_number(app, "--n-best", models_.n_best,
             "Most translations of a text that a request can get, the best one counted; at most "
             "and by default the beam size, by default 4 where all lines get so many: on a GPU, "
             "and where words are drawn",
             {1, 64});
  app.add_flag("--alignment", models_.alignment,
               "Alignments also on a GPU, where the search runs on the host then; on a CPU models "
               "that have alignments always give them: tags of HTML follow their words, and "
               "replies of /v1/translate may have them");
  options().keep_rest_behind("--translate",
                             "Options of `fuselage translate` for all models, which follow: "
                             "--translate --beam-size 4 --precision int8");
  options().advise(advice_against);
  add_network_options();
  add_limit_options();
}

void ServeCommand::add_network_options() {
  options().begin_group("Network");
  CLI::App& app = options().app();
  app.add_option("--host", server_.http.host,
                 "Address at which to listen; 0.0.0.0 or ::, for other machines too")
      ->type_name("ADDRESS")
      ->capture_default_str();
  add_number(app, "-p,--port", server_.http.port, "Port; 0: any free one, which is printed",
             {0, 65535});
  app.add_flag("--behind-proxy", server_.http.behind_proxy,
               "A proxy adds the address of the client to X-Forwarded-For");
  app.add_option("--allow-origin", server_.http.allow_origin,
                 "Origin of pages that may use the replies; *: all; empty: none but the server's")
      ->type_name("ORIGIN")
      ->capture_default_str();
  app.add_option("--access-log", server_.access_log,
                 "File that gets a line for each request; -: standard error")
      ->type_name("FILE");
  app.add_flag("--quiet", quiet_, "Print nothing but the address and errors");
}

void ServeCommand::add_limit_options() {
  options().begin_group("Limits");
  CLI::App& app = options().app();
  app.add_option("--api-keys", server_.api_keys,
                 "File with a key on each line, which a number of requests a minute may follow; "
                 "requests need one of them")
      ->type_name("FILE");
  add_number(app, "--max-connections", server_.http.max_connections,
             "Connections at a time, each with a thread; requests of more get the status 429",
             {1, 8192});
  add_number(app, "--max-request-kb", max_request_kb_, "Size of a request in kB", {1, 65536});
  add_number(app, "--max-characters", server_.limits.max_characters,
             "Characters of the texts of a request; 0: any number", {0, 1e9});
  add_number(app, "--max-waiting", server_.queue.max_waiting,
             "Lines that may wait for each model; then requests get the status 429", {1, 1e6});
  add_number(app, "--requests-per-minute", server_.limits.requests_per_minute,
             "Requests of a client; 0: any number", {0, 1e6});
  add_number(app, "--timeout", timeout_, "Seconds in which a text has to be translated",
             {.least = 0.001, .most = kMaxSeconds, .whole = false});
  add_number(app, "--request-timeout", request_timeout_, "Seconds in which a request has to arrive",
             {.least = 0.1, .most = kMaxSeconds, .whole = false});
  add_number(app, "--reply-timeout", reply_timeout_,
             "Seconds that a client may take until it reads on in a reply",
             {.least = 0.1, .most = kMaxSeconds, .whole = false});
}

void ServeCommand::finish() {
  const auto milliseconds = [](double seconds) {
    return std::chrono::ceil<std::chrono::milliseconds>(std::chrono::duration<double>(seconds));
  };
  server_.limits.timeout = milliseconds(timeout_);
  server_.http.request_timeout = milliseconds(request_timeout_);
  server_.http.write_timeout = milliseconds(reply_timeout_);
  server_.http.max_body = max_request_kb_ * 1000;
  models_.arguments = options().rest();
  expect_behind_translate(options(), models_.arguments);
  if (!models_.folder.empty() && !models_.languages.empty())
    throw Error(
        "--languages is for one model; with --models the names of the folders tell the "
        "languages");
  if (models_.model.empty() && !models_.languages.empty())
    throw Error(
        "--languages is for one model; name it with -m PATH: the bundled models state theirs");
  server_.log = [](std::string_view note) { print_note(note); };
  if (!quiet_) models_.log = server_.log;
}

/// "http://127.0.0.1:5000"; an IPv6 address is in brackets.
std::string address_of(const std::string& host, int port) {
  return host.find(':') == std::string::npos ? fmt::format("http://{}:{}", host, port)
                                             : fmt::format("http://[{}]:{}", host, port);
}

int ServeCommand::run() {
  finish();
  const ServerSignals signals;
  const auto open = [this] { return open_served_models(models_); };
  TranslationServer server(open, server_);
  if (!quiet_)
    for (const auto& model : server.models()->models())
      print_note(fmt::format("{} is served", to_string(model->languages())));
  fmt::print("{}\n", address_of(server_.http.host, server.port()));
  if (std::fflush(stdout) != 0) fail_to_write("standard output");
  std::thread serving([&] { server.run(); });
  while (signals.wait() == SIGHUP) server.reload();
  server.stop();
  // A second signal does not wait for requests.
  std::thread([&signals] {
    while (signals.wait() == SIGHUP) continue;
    ::_exit(1);
  }).detach();
  serving.join();
  return 0;
}

}  // namespace

std::unique_ptr<Command> make_serve_command() { return std::make_unique<ServeCommand>(); }

}  // namespace fuselage
