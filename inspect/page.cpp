#include "fuselage/inspect/page.h"

#include "fuselage/base/error.h"
#include "fuselage/inspect/comparison.h"
#include "fuselage/inspect/json.h"
#include "inspect/page_files.h"

namespace fuselage {
namespace {

/// JSON escaped for a script element, which no text in it can close.
std::string for_script(std::string_view json) {
  std::string safe;
  for (const char c : json) {
    if (c == '<')
      safe += "\\u003c";
    else
      safe += c;
  }
  return safe;
}

std::string for_html(std::string_view text) {
  std::string safe;
  for (const char c : text) {
    if (c == '<')
      safe += "&lt;";
    else if (c == '&')
      safe += "&amp;";
    else if (c == '"')
      safe += "&quot;";
    else
      safe += c;
  }
  return safe;
}

/// `text` with {{name}} replaced by `value`.
std::string fill_in(std::string text, std::string_view name, std::string_view value) {
  const std::string mark = "{{" + std::string(name) + "}}";
  const std::size_t at = text.find(mark);
  check(at != std::string::npos, "the page has a place for each part");
  return text.replace(at, mark.size(), value);
}

}  // namespace

std::string print_page(const Report& report) {
  std::string script;
  for (const std::string_view part : kPageScripts) script += part;
  std::string page(kPageHtml);
  page = fill_in(std::move(page), "title", for_html(report.history.raw().name()));
  page = fill_in(std::move(page), "style", kPageStyle);
  page = fill_in(std::move(page), "script", script);
  return fill_in(std::move(page), "data", for_script(print_pooled_json(report)));
}

std::string print_comparison_page(const Comparison& comparison) {
  std::string page(kComparisonHtml);
  const std::string& name = comparison.left.history.raw().name();
  page = fill_in(std::move(page), "title", for_html(name));
  page = fill_in(std::move(page), "title", for_html(name));
  page = fill_in(std::move(page), "figures", for_html(print_comparison(comparison)));
  page = fill_in(std::move(page), "left_title", for_html(comparison.left_title));
  page = fill_in(std::move(page), "right_title", for_html(comparison.right_title));
  page = fill_in(std::move(page), "left", for_html(print_page(comparison.left)));
  return fill_in(std::move(page), "right", for_html(print_page(comparison.right)));
}

}  // namespace fuselage
