#include "tools/commands/graphs/run_inputs.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <memory>
#include <string_view>

#include "base/files/file.h"
#include "base/suggest.h"
#include "fuselage/base/error.h"
#include "models/formats/npz.h"
#include "text/vocabulary.h"
#include "tools/options/input_files.h"

namespace fuselage {
namespace {

const GraphInput& find_input(std::span<const GraphInput> declared, const std::string& name) {
  std::vector<std::string_view> names;
  for (const GraphInput& input : declared) {
    if (input.name == name) return input;
    names.emplace_back(input.name);
  }
  throw Error(
      fmt::format("the graph has no input {}{}", in_quotes(name), did_you_mean(name, names)));
}

std::vector<std::string_view> split(std::string_view line) {
  std::vector<std::string_view> words;
  for (std::size_t at = 0; (at = line.find_first_not_of(" \t\r", at)) != line.npos;) {
    const std::size_t end = std::min(line.find_first_of(" \t\r", at), line.size());
    words.push_back(line.substr(at, end - at));
    at = end;
  }
  return words;
}

std::int32_t to_integer(std::string_view word, const std::string& where, bool ids) {
  std::int32_t value = 0;
  const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), value);
  if (error != std::errc() || end != word.data() + word.size())
    throw Error(fmt::format("{}: {} is no integer{}", where, in_quotes(word),
                            ids ? "; give word ids, or a vocabulary for words" : ""));
  return value;
}

/// Word ids of a line, without the end symbol that encode() adds.
std::vector<std::int32_t> words_of(const std::string& line, const Vocabulary& vocabulary) {
  std::vector<std::int32_t> ids = vocabulary.encode(line);
  ids.pop_back();
  return ids;
}

NamedRows read_text(const GraphInput& input, const std::string& path,
                    const Vocabulary* vocabulary) {
  if (input.kind == GraphInput::Kind::numbers)
    throw Error(
        fmt::format("{}: the input '{}' is numbers, which are read from .npy and .npz files", path,
                    input.name));
  NamedRows rows{.name = input.name};
  std::vector<std::int32_t> words;
  InputFiles file({path});
  std::string line;
  for (std::size_t number = 1; std::getline(file.stream(), line); ++number) {
    const std::string where = fmt::format("{}:{}", path, number);
    std::vector<std::int32_t> ids;
    if (vocabulary)
      ids = words_of(line, *vocabulary);
    else
      for (const std::string_view word : split(line))
        ids.push_back(to_integer(word, where, input.kind == GraphInput::Kind::words));
    if (input.kind == GraphInput::Kind::rows) {
      if (ids.size() != 1)
        throw Error(
            fmt::format("{}: the line has {} numbers, but the input '{}' wants one, the "
                        "number of rows",
                        where, ids.size(), input.name));
      rows.lengths.push_back(ids[0]);
      continue;
    }
    rows.lengths.push_back(static_cast<std::int32_t>(ids.size()));
    words.insert(words.end(), ids.begin(), ids.end());
  }
  if (rows.lengths.empty()) throw Error(fmt::format("{}: the file has no line", path));
  rows.values = Tensor(DType::i32, {static_cast<std::int64_t>(words.size())});
  std::copy(words.begin(), words.end(), rows.values.mutable_data<std::int32_t>());
  return rows;
}

std::vector<std::int32_t> to_lengths(const Tensor& tensor, const std::string& where) {
  if (tensor.shape().size() != 1 || (tensor.dtype() != DType::i32 && tensor.dtype() != DType::i64))
    throw Error(fmt::format("{}: lengths are [sentences] of i32 or i64, not {} of {}", where,
                            shape_to_string(tensor.shape()), to_string(tensor.dtype())));
  std::vector<std::int32_t> lengths;
  for (std::int64_t i = 0; i < tensor.size(); ++i) {
    const std::int64_t length = tensor.dtype() == DType::i32 ? tensor.data<std::int32_t>()[i]
                                                             : tensor.data<std::int64_t>()[i];
    if (length < 0 || length > INT32_MAX)
      throw Error(fmt::format("{}: the length of sentence {} is {}", where, i + 1, length));
    lengths.push_back(static_cast<std::int32_t>(length));
  }
  if (lengths.empty()) throw Error(fmt::format("{}: there are no sentences", where));
  return lengths;
}

NamedRows read_archive(const GraphInput& input, const std::string& path) {
  const NpzFile file = read_npz(path);
  NamedRows rows{.name = input.name};
  const std::string lengths = input.name + ".lengths";
  if (const auto found = file.tensors.find(input.name); found != file.tensors.end()) {
    rows.values = found->second;
  } else if (input.kind != GraphInput::Kind::rows) {
    std::vector<std::string_view> names;
    for (const auto& [name, tensor] : file.tensors) names.emplace_back(name);
    throw Error(fmt::format("{}: the archive has no array {}{}", path, in_quotes(input.name),
                            did_you_mean(input.name, names)));
  }
  if (const auto found = file.tensors.find(lengths); found != file.tensors.end())
    rows.lengths = to_lengths(found->second, fmt::format("{}: {}", path, in_quotes(lengths)));
  else if (input.kind == GraphInput::Kind::rows)
    throw Error(fmt::format("{}: the archive has no array {}", path, in_quotes(lengths)));
  return rows;
}

}  // namespace

NamedFile parse_named_file(const std::string& argument, const std::string& option) {
  const std::size_t at = argument.find('=');
  if (at == 0 || at == std::string::npos || at + 1 == argument.size())
    throw Error(fmt::format("{} is NAME=FILE, not {}", option, in_quotes(argument)));
  return {argument.substr(0, at), argument.substr(at + 1)};
}

std::vector<NamedRows> read_run_inputs(std::span<const GraphInput> declared,
                                       std::span<const NamedFile> files,
                                       std::span<const NamedFile> vocabularies) {
  for (const NamedFile& vocabulary : vocabularies) {
    find_input(declared, vocabulary.name);
    if (std::none_of(files.begin(), files.end(),
                     [&](const NamedFile& file) { return file.name == vocabulary.name; }))
      throw Error(fmt::format("the vocabulary {} is for the input '{}', which is not given",
                              vocabulary.path, vocabulary.name));
  }
  std::vector<NamedRows> inputs;
  for (const NamedFile& file : files) {
    const GraphInput& input = find_input(declared, file.name);
    std::unique_ptr<const Vocabulary> vocabulary;
    for (const NamedFile& each : vocabularies)
      if (each.name == file.name)
        vocabulary = load_vocabulary(each.path, {.sentencepiece_encode = false});
    const std::string_view extension = file_extension(file.path);
    if (vocabulary && input.kind != GraphInput::Kind::words)
      throw Error(fmt::format("the input '{}' has no words, so it takes no vocabulary", file.name));
    if (extension == "npz")
      inputs.push_back(read_archive(input, file.path));
    else if (extension == "npy" && input.kind != GraphInput::Kind::rows)
      inputs.push_back({.name = input.name, .values = read_npy(file.path)});
    else if (extension == "npy")
      throw Error(fmt::format("{}: the input '{}' has only lengths; give a text or an .npz file",
                              file.path, input.name));
    else
      inputs.push_back(read_text(input, file.path, vocabulary.get()));
  }
  return inputs;
}

}  // namespace fuselage
