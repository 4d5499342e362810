#include "models/marian/published_files.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <string_view>
#include <system_error>

#include "base/files/compression.h"
#include "base/files/file.h"
#include "base/suggest.h"
#include "fuselage/base/error.h"

namespace fuselage {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kMaxEntries = 10'000;

bool has(std::string_view name, std::string_view part) {
  return name.find(part) != std::string_view::npos;
}

/// A file by its name without compression.
struct File {
  std::string plain;  ///< "lex.s2t.bin"
  std::string name;   ///< "lex.s2t.bin.gz"

  std::string_view extension() const { return file_extension(plain); }
  bool is_yaml() const { return extension() == "yml" || extension() == "yaml"; }
};

bool is_shortlist(const File& file) {
  return file.plain.starts_with("lex.") || file.plain == "lex" || has(file.plain, ".s2t") ||
         has(file.plain, "shortlist");
}

bool is_model(const File& file) {
  if (file.extension() == "npz") return !file.plain.ends_with(".optimizer.npz");
  return file.extension() == "bin" && !is_shortlist(file);
}

bool is_decoder_configuration(const File& file) {
  const std::string& name = file.plain;
  return file.is_yaml() && !has(name, "vocab") &&
         (name.starts_with("decoder.") || has(name, ".decoder.") || name.starts_with("config."));
}

/// What marian writes for Amun beside its own configuration.
bool is_amun_configuration(const File& file) { return file.plain.ends_with(".amun.yml"); }

bool is_vocabulary(const File& file) {
  const std::string_view extension = file.extension();
  if (extension == "spm" || extension == "fsv") return true;
  return has(file.plain, "vocab") &&
         (file.is_yaml() || extension == "json" || extension == "txt" || extension == "vocab");
}

/// Whether the name says that a file is of this side.
bool is_of(const File& file, bool source) {
  const auto begins = [&](std::string_view word) {
    // "source.spm", "srcvocab.enja.spm", "vocab.src.yml", "opus.src.vocab.yml"
    for (std::size_t at = file.plain.find(word); at != std::string::npos;
         at = file.plain.find(word, at + 1))
      if (at == 0 || file.plain[at - 1] == '.' || file.plain[at - 1] == '-') return true;
    return false;
  };
  if (source) return begins("src") || begins("source");
  return begins("trg") || begins("tgt") || begins("target");
}

/// The files of a directory, and those that were found.
class Finder {
 public:
  Finder(const std::vector<std::string>& names, const std::string& directory)
      : directory_(directory) {
    std::map<std::string, std::string> by_plain_name;
    for (const std::string& name : names) {
      const auto [at, added] = by_plain_name.emplace(std::string(without_compression(name)), name);
      if (!added && name.size() < at->second.size()) at->second = name;
    }
    for (auto& [plain, name] : by_plain_name) files_.push_back({plain, name});
  }

  PublishedFiles find() {
    PublishedFiles found;
    found.configuration = only("configurations", is_decoder_configuration);
    if (found.configuration.empty() && count(is_model) != 1)
      found.configuration = only("configurations", is_amun_configuration);
    if (found.configuration.empty()) {
      found.model = only("models", is_model);
      if (found.model.empty())
        throw Error(fmt::format(
            "{}: this directory holds no model: it has no config.json of a Fuselage model, no "
            "configuration of a decoder, and no .npz or .bin",
            directory_));
    }
    find_vocabularies(found);
    if (count(is_shortlist) > 1)
      found.shortlist =
          only("shortlists", [](const File& file) { return is_shortlist(file) && is_bin(file); });
    if (found.shortlist.empty()) found.shortlist = only("shortlists", is_shortlist);
    compare_pairs(found);
    return found;
  }

 private:
  static bool is_bin(const File& file) { return file.extension() == "bin"; }

  template <typename Predicate>
  std::size_t count(Predicate is_part) const {
    return static_cast<std::size_t>(std::count_if(files_.begin(), files_.end(), is_part));
  }

  /// The only file of a part; "" if there is none. Throws Error if there are several.
  template <typename Predicate>
  std::string only(std::string_view parts, Predicate is_part) const {
    const File* found = nullptr;
    for (const File& file : files_) {
      if (!is_part(file)) continue;
      if (found != nullptr)
        throw Error(fmt::format(
            "{}: the directory has several {}, {} and {}; give the path of the one to use, or "
            "remove the others",
            directory_, parts, in_quotes(found->name), in_quotes(file.name)));
      found = &file;
    }
    return found == nullptr ? "" : found->name;
  }

  /// Sets vocabularies and splitters.
  void find_vocabularies(PublishedFiles& found) const {
    const auto pieces = [](const File& file) { return file.extension() == "spm"; };
    const auto words = [&](const File& file) { return is_vocabulary(file) && !pieces(file); };
    const bool of_two_sides = count(pieces) == 2;
    if (count(words) == 0 || (count(pieces) > 0 && !of_two_sides)) {
      // A single SentencePiece model beside a vocabulary of words is another vocabulary.
      found.vocabularies = sides("vocabularies", is_vocabulary);
      if (found.vocabularies.empty()) note_unknown_sides(is_vocabulary, found.notes);
      return;
    }
    found.vocabularies = sides("vocabularies", words);
    if (found.vocabularies.empty()) note_unknown_sides(words, found.notes);
    if (of_two_sides) found.splitters = sides("SentencePiece models", pieces);
  }

  /// The files of source and target, equal if there is one only; empty if there is none or the
  /// sides of several are not in their names.
  template <typename Predicate>
  std::vector<std::string> sides(std::string_view parts, Predicate is_part) const {
    if (count(is_part) == 1) {
      const std::string name = only(parts, is_part);
      return {name, name};
    }
    const auto of = [&](bool source) {
      return only(parts, [&](const File& file) { return is_part(file) && is_of(file, source); });
    };
    std::vector<std::string> names = {of(true), of(false)};
    if (names[0].empty() || names[1].empty()) return {};
    return names;
  }

  template <typename Predicate>
  void note_unknown_sides(Predicate is_part, std::vector<std::string>& notes) const {
    std::string names;
    for (const File& file : files_)
      if (is_part(file)) names += (names.empty() ? "" : ", ") + in_quotes(file.name);
    if (!names.empty())
      notes.push_back(fmt::format(
          "{}: the names of the vocabularies do not tell source and target apart, so none is "
          "used: {}",
          directory_, names));
  }

  /// Adds a note if model, vocabulary and shortlist are named for different pairs of languages.
  void compare_pairs(PublishedFiles& found) const {
    const auto pair_of = [](std::string_view name, std::string_view before) -> std::string {
      if (!name.starts_with(before)) return "";
      name.remove_prefix(before.size());
      const std::string_view pair = name.substr(0, name.find('.'));
      const bool letters =
          std::all_of(pair.begin(), pair.end(), [](char c) { return c >= 'a' && c <= 'z'; });
      return letters && (pair.size() == 4 || pair.size() == 6) ? std::string(pair) : "";
    };
    const std::string pair = pair_of(found.model, "model.");
    if (pair.empty()) return;
    std::vector<std::string> others = found.vocabularies;
    if (!others.empty() && others.front() == others.back()) others.pop_back();
    others.push_back(found.shortlist);
    for (const std::string& name : others) {
      std::string other;
      for (const char* before : {"vocab.", "srcvocab.", "trgvocab.", "lex."})
        if (other.empty()) other = pair_of(name, before);
      // lex.50.50.enru.s2t.bin
      if (const std::size_t end = name.find(".s2t"); other.empty() && end != std::string::npos)
        other = pair_of(name.substr(name.rfind('.', end - 1) + 1), "");
      // A joint vocabulary may be named for the other direction.
      const std::size_t half = other.size() / 2;
      const bool reversed = other.substr(half) + other.substr(0, half) == pair;
      if (!other.empty() && other != pair && !(reversed && has(name, "vocab")))
        found.notes.push_back(
            fmt::format("{}: {} is named for {}, but {} for {}; are they of one model?", directory_,
                        in_quotes(found.model), pair, in_quotes(name), other));
    }
  }

  const std::string& directory_;
  std::vector<File> files_;  ///< by name
};

}  // namespace

PublishedFiles find_published_files(const std::vector<std::string>& names,
                                    const std::string& directory) {
  return Finder(names, directory).find();
}

PublishedFiles find_published_files(const std::string& directory) {
  std::vector<std::string> names;
  std::error_code error;
  for (fs::directory_iterator at(directory, error), end; !error && at != end; at.increment(error)) {
    if (names.size() == kMaxEntries)
      throw Error(fmt::format(
          "{}: the directory has more than {} entries; give one that holds the model only",
          directory, kMaxEntries));
    std::error_code status;
    if (at->is_regular_file(status)) names.push_back(at->path().filename().string());
  }
  if (error)
    throw Error(fmt::format("cannot read the directory {}: {}", directory, error.message()));
  return find_published_files(names, directory);
}

}  // namespace fuselage
