// Reads rows of TSV and JSON lines, and joins them with translations; reads journals.

#include <cstddef>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "corpus/output/journal.h"
#include "corpus/records/json_records.h"
#include "corpus/records/tsv_records.h"
#include "fuselage/base/error.h"
#include "fuzz/check_message.h"

namespace {

using namespace fuselage;

/// The row with translations that are the lines themselves; empty if the row is refused.
std::string copied(const RecordFormat& format, const std::string& row) {
  try {
    const Record record = format.read(row, 0);
    std::vector<Translation> translations;
    for (const std::string& line : record.lines)
      translations.push_back({.n_best = {{.text = line, .hypothesis = {}}}});
    return record.joined(translations);
  } catch (const Error& error) {
    check_message(error);
    return "";
  }
}

void use_json(const std::string& row) {
  const JsonRecords records("a", "b");
  const std::string result = copied(records, row);
  if (result.empty()) return;
  const auto json = nlohmann::json::parse(result, nullptr, false);
  check(json.is_object() && json.contains("a") && json.contains("b"),
        "a row is no object any more");
  check(json["a"] == json["b"], "a text is another when its lines are joined");
}

void use_tsv(const std::string& row) {
  for (const char* column : {"1", "3", "name"}) {
    TsvRecords records(column, "b");
    try {
      if (records.has_header()) records.read_header(row);
    } catch (const Error& error) {
      check_message(error);
      continue;
    }
    const std::string result = copied(records, row);
    check(result.empty() || result.size() > row.size(), "a row has lost a part");
  }
}

void use_journal(const std::string& text) {
  try {
    const Journal journal = parse_journal(text);
    check(parse_journal(print_journal(journal)) == journal, "a journal is another");
  } catch (const Error& error) {
    check_message(error);
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string text(reinterpret_cast<const char*>(data), size);
  use_journal(text);
  const std::string row = text.substr(0, text.find('\n'));
  use_json(row);
  use_tsv(row);
  return 0;
}
