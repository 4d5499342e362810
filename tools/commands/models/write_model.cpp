#include "tools/commands/models/write_model.h"

#include <fmt/format.h>

#include <csignal>
#include <utility>

#include "fuselage/base/error.h"
#include "models/decode_keys.h"
#include "text/shortlist/shortlist.h"
#include "tools/options/model_command_options.h"

namespace fuselage {
namespace {

/// Blocks the signals that end the process while a directory is written. They are delivered when
/// the directory is complete, or removed.
class SignalsHeld {
 public:
  SignalsHeld() {
    sigset_t held;
    sigemptyset(&held);
    for (const int signal : {SIGINT, SIGTERM, SIGHUP}) sigaddset(&held, signal);
    pthread_sigmask(SIG_BLOCK, &held, &before_);
  }
  ~SignalsHeld() { pthread_sigmask(SIG_SETMASK, &before_, nullptr); }
  SignalsHeld(const SignalsHeld&) = delete;
  SignalsHeld& operator=(const SignalsHeld&) = delete;

 private:
  sigset_t before_;
};

void add_probes(Model& model, const std::vector<std::string>& vocabularies,
                const ProbeOptions& options, std::vector<std::string>& notes) {
  if (options.none) model.probes = {};
  if (options.none || (options.texts.empty() && !model.probes.lines.empty())) return;
  try {
    for (std::string& warning : options.make(model, vocabularies))
      notes.push_back(std::move(warning));
  } catch (const Error& error) {
    // Nobody asked for random lines.
    if (!options.texts.empty()) throw;
    notes.push_back(fmt::format("no probe sentences are stored: {}", error.what()));
  }
}

}  // namespace

void write_model(NamedModel loaded, const std::vector<std::string>& vocabularies,
                 std::string directory, DecodeDefaults decode, const SaveOptions& save,
                 const ProbeOptions& probes,
                 const std::function<void(Model&, VocabularyPair&)>& change) {
  add_decode_defaults(decode, loaded.model.decode);
  loaded.model.decode = decode;
  const std::vector<std::string> paths =
      vocabularies.empty() ? loaded.model.vocabularies : vocabularies;
  for (const std::string& path : paths) expect_copied_name(path);
  if (paths.empty())
    throw Error(fmt::format(
        "{} brings no vocabularies; give them with -v SOURCE TARGET, the same file twice where "
        "both "
        "sides share one",
        loaded.path));
  VocabularyPair checked = load_vocabularies(loaded.model, {.paths = paths});
  if (const ShortlistOptions& shortlist = loaded.model.shortlist; !shortlist.path.empty())
    load_lexical_table(shortlist, {*checked.source, *checked.target});
  add_probes(loaded.model, paths, probes, checked.notes);
  change(loaded.model, checked);
  for (const std::string& note : checked.notes) print_note(note);
  // The model gets the directory's name, since most Marian files are named model.npz.
  while (directory.size() > 1 && directory.back() == '/') directory.pop_back();
  loaded.model.graph.set_name(directory.substr(directory.rfind('/') + 1));
  const SignalsHeld held;
  save_model_directory(loaded.model, paths, directory, save);
}

}  // namespace fuselage
