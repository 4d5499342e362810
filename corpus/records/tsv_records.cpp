#include "corpus/records/tsv_records.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <optional>
#include <utility>

#include "base/suggest.h"
#include "fuselage/base/error.h"
#include "text/split.h"

namespace fuselage {
namespace {

/// The field with this number, from 1; nullopt if there are fewer.
std::optional<std::string_view> field_of(std::string_view row, std::size_t number) {
  for (std::size_t i = 1; i < number; ++i) {
    const std::size_t tab = row.find('\t');
    if (tab == std::string_view::npos) return std::nullopt;
    row.remove_prefix(tab + 1);
  }
  return row.substr(0, row.find('\t'));
}

std::size_t fields_of(std::string_view row) {
  return static_cast<std::size_t>(std::ranges::count(row, '\t')) + 1;
}

/// The names in a header, for messages.
std::string names_of(std::string_view header) {
  std::string names;
  for (std::size_t i = 1; i <= fields_of(header); ++i)
    names += (i > 1 ? ", " : "") + in_quotes(*field_of(header, i));
  return names;
}

/// The row with one more field.
std::string with_field(std::string_view row, std::string field) {
  std::ranges::replace(field, '\t', ' ');
  const std::string_view body = without_carriage_return(row);
  return fmt::format("{}\t{}{}\n", body, field, row.substr(body.size()));
}

}  // namespace

TsvRecords::TsvRecords(std::string column, std::string added)
    : column_(std::move(column)), added_(std::move(added)) {
  for (const std::string& name : {column_, added_})
    if (name.empty() || name.find_first_of("\t\r\n") != std::string::npos)
      throw Error(
          fmt::format("a column has a number from 1 or a name without tabs and line breaks, not {}",
                      in_quotes(name)));
  const char* const end = column_.data() + column_.size();
  std::size_t number = 0;
  const auto [stop, error] = std::from_chars(column_.data(), end, number);
  if (stop != end) return;
  if (error != std::errc() || number == 0)
    throw Error(
        fmt::format("columns are numbered from 1, and there is none with number {}", column_));
  number_ = found_ = number;
}

std::string TsvRecords::read_header(std::string_view row) {
  const std::string_view body = without_carriage_return(row);
  const std::size_t fields = fields_of(body);
  std::size_t found = 0;
  for (std::size_t i = fields; i > 0; --i) {
    const std::string_view name = *field_of(body, i);
    if (name == column_) found = i;
    if (name == added_)
      throw Error(fmt::format("there is a column {} already; give the translation another name",
                              in_quotes(added_)));
  }
  if (found == 0)
    throw Error(fmt::format(
        "the header has no column {}, but {}; give one of these, or a number for a text without "
        "header",
        in_quotes(column_), names_of(body)));
  if (!header_.empty() && header_ != body)
    throw Error(fmt::format(
        "the header has {}, but that of the first file {}; texts with other columns need another "
        "output",
        names_of(body), names_of(header_)));
  header_ = body;
  found_ = found;
  return with_field(row, added_);
}

Record TsvRecords::read(std::string row, std::size_t) const {
  const std::string_view body = without_carriage_return(row);
  const auto field = field_of(body, found_);
  if (!field)
    throw Error(fmt::format("the line has {} column{}, but column {}{} is to be translated",
                            fields_of(body), fields_of(body) == 1 ? "" : "s", found_,
                            has_header() ? fmt::format(", {},", in_quotes(column_)) : ""));
  Record record;
  record.lines.emplace_back(*field);
  record.joined = [row = std::move(row)](std::span<const Translation> translations) {
    return with_field(row, translations.front().text());
  };
  return record;
}

}  // namespace fuselage
