#include "text/pages/html/elements.h"

#include <algorithm>
#include <iterator>

namespace fuselage {
namespace {

constexpr std::string_view kBlocks[] = {
    "address",   "article",  "aside",    "blockquote", "body",    "br",       "caption", "center",
    "col",       "colgroup", "datalist", "dd",         "details", "dialog",   "dir",     "div",
    "dl",        "dt",       "fieldset", "figcaption", "figure",  "footer",   "form",    "frame",
    "frameset",  "h1",       "h2",       "h3",         "h4",      "h5",       "h6",      "head",
    "header",    "hgroup",   "hr",       "html",       "legend",  "li",       "listing", "main",
    "marquee",   "menu",     "nav",      "noframes",   "ol",      "optgroup", "option",  "p",
    "plaintext", "pre",      "search",   "section",    "select",  "summary",  "table",   "tbody",
    "td",        "template", "tfoot",    "th",         "thead",   "title",    "tr",      "ul",
    "xmp"};

constexpr std::string_view kVoids[] = {"area",  "base",  "basefont", "bgsound", "br",    "col",
                                       "embed", "frame", "hr",       "img",     "input", "keygen",
                                       "link",  "meta",  "param",    "source",  "track", "wbr"};

constexpr std::string_view kUntranslated[] = {
    "applet", "audio",   "canvas",   "code",   "iframe",    "kbd",   "listing",
    "math",   "noembed", "noframes", "object", "plaintext", "samp",  "script",
    "style",  "svg",     "textarea", "tt",     "var",       "video", "xmp"};

constexpr std::string_view kWords[] = {
    "a",     "audio",  "button", "canvas",   "code", "img", "input",    "kbd", "label", "math",
    "meter", "object", "output", "progress", "samp", "svg", "textarea", "tt",  "var",   "video"};

constexpr std::string_view kRawText[] = {"iframe", "noembed", "noframes", "plaintext",
                                         "script", "style",   "xmp"};

constexpr std::string_view kForeignEnds[] = {
    "b",      "big",  "blockquote", "body",  "br",   "center", "code",    "dd",   "div",
    "dl",     "dt",   "em",         "embed", "h1",   "h2",     "h3",      "h4",   "h5",
    "h6",     "head", "hr",         "i",     "img",  "li",     "listing", "menu", "meta",
    "nobr",   "ol",   "p",          "pre",   "ruby", "s",      "small",   "span", "strong",
    "strike", "sub",  "sup",        "table", "tt",   "u",      "ul",      "var"};

/// Start tags that end a paragraph.
constexpr std::string_view kParagraphEnds[] = {
    "address", "article", "aside",    "blockquote", "center", "details", "dialog", "dir",
    "div",     "dl",      "fieldset", "figcaption", "figure", "footer",  "form",   "h1",
    "h2",      "h3",      "h4",       "h5",         "h6",     "header",  "hgroup", "hr",
    "li",      "listing", "main",     "menu",       "nav",    "ol",      "p",      "plaintext",
    "pre",     "search",  "section",  "summary",    "table",  "ul",      "xmp"};

struct Siblings {
  std::string_view name, next;
};

constexpr Siblings kSiblings[] = {
    {"li", "li"},       {"dt", "dt"},          {"dt", "dd"},           {"dd", "dd"},
    {"dd", "dt"},       {"rt", "rt"},          {"rt", "rp"},           {"rp", "rp"},
    {"rp", "rt"},       {"option", "option"},  {"option", "optgroup"}, {"optgroup", "optgroup"},
    {"td", "td"},       {"td", "th"},          {"td", "tr"},           {"td", "tbody"},
    {"td", "tfoot"},    {"td", "thead"},       {"th", "td"},           {"th", "th"},
    {"th", "tr"},       {"th", "tbody"},       {"th", "tfoot"},        {"th", "thead"},
    {"tr", "tr"},       {"tr", "tbody"},       {"tr", "tfoot"},        {"tr", "thead"},
    {"thead", "tbody"}, {"thead", "tfoot"},    {"tbody", "tbody"},     {"tbody", "tfoot"},
    {"tfoot", "tbody"}, {"caption", "tr"},     {"caption", "tbody"},   {"caption", "thead"},
    {"colgroup", "tr"}, {"colgroup", "tbody"}, {"colgroup", "thead"},  {"head", "body"}};

template <std::size_t kSize>
bool is_among(const std::string_view (&names)[kSize], std::string_view name) {
  return std::ranges::find(names, name) != std::end(names);
}

}  // namespace

bool is_block_element(std::string_view name) { return is_among(kBlocks, name); }

bool is_void_element(std::string_view name) { return is_among(kVoids, name); }

bool is_untranslated_element(std::string_view name) { return is_among(kUntranslated, name); }

bool is_word_element(std::string_view name) { return is_among(kWords, name); }

bool has_escapable_text(std::string_view name) { return name == "title" || name == "textarea"; }

bool has_raw_text(std::string_view name) { return is_among(kRawText, name); }

bool ends_foreign_content(std::string_view name) { return is_among(kForeignEnds, name); }

bool is_ended_by(std::string_view name, std::string_view next) {
  if (name == "p") return is_among(kParagraphEnds, next);
  return std::ranges::any_of(
      kSiblings, [&](const Siblings& pair) { return pair.name == name && pair.next == next; });
}

}  // namespace fuselage
