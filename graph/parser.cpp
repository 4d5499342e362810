#include <fmt/format.h>

#include <charconv>
#include <unordered_map>
#include <vector>

#include "base/numbers/from_chars.h"
#include "base/suggest.h"
#include "fuselage/base/error.h"
#include "fuselage/base/stack.h"
#include "fuselage/graph/text.h"

namespace fuselage {
namespace {

constexpr std::string_view kHeader = "fuselage.graph 1";
constexpr std::string_view kDomainKinds[] = {"vocabulary", "sentence",   "source",
                                             "shortlist",  "scan",       "parent",
                                             "prefix",     "hypothesis", "pairs"};

std::vector<std::string_view> names_of(const OpRegistry& ops) {
  std::vector<std::string_view> names;
  for (const OpDef* op : ops.all()) names.push_back(op->name);
  return names;
}

std::vector<std::string_view> attribute_names(const OpDef& op) {
  std::vector<std::string_view> names;
  for (const auto& attribute : op.attributes) names.push_back(attribute.name);
  return names;
}

/// Reads the tokens of one line. All errors name the line.
class LineReader {
 public:
  LineReader(std::string_view text, const std::string& where, std::uint32_t line)
      : text_(text), where_(where), line_(line) {}

  [[noreturn]] void fail(const std::string& message) const {
    throw LocatedError(fmt::format("{}:{}: {}", where_, line_, message));
  }

  bool at_end() {
    skip_blanks();
    return at_ == text_.size();
  }

  bool accept(std::string_view token) {
    skip_blanks();
    if (text_.substr(at_, token.size()) != token) return false;
    // A keyword must not be followed by another name character.
    const std::size_t end = at_ + token.size();
    if (valid_name(token) && end < text_.size() && valid_name(text_.substr(end, 1))) return false;
    at_ = end;
    return true;
  }

  void expect(std::string_view token) {
    if (!accept(token)) fail(fmt::format("expected '{}' before {}", token, rest()));
  }

  void expect_end() {
    if (!at_end()) fail(fmt::format("unexpected {}", rest()));
  }

  std::string_view name(std::string_view what) {
    skip_blanks();
    std::size_t end = at_;
    while (end < text_.size() && valid_name(text_.substr(end, 1))) ++end;
    if (end == at_) fail(fmt::format("expected {} before {}", what, rest()));
    const std::string_view found = text_.substr(at_, end - at_);
    at_ = end;
    return found;
  }

  template <typename T>
  T number() {
    skip_blanks();
    T value{};
    const char* begin = text_.data() + at_;
    const auto [end, error] = from_chars(begin, text_.data() + text_.size(), value);
    if (error != std::errc{}) fail(fmt::format("expected a number before {}", rest()));
    at_ += static_cast<std::size_t>(end - begin);
    return value;
  }

  std::string string() {
    expect("\"");
    std::string value;
    while (true) {
      if (at_ == text_.size()) fail("a string has no closing quote");
      char c = text_[at_++];
      if (c == '"') return value;
      if (c == '\\') c = escape();
      value += c;
    }
  }

  /// "[a, b]", each element read by `read`.
  template <typename Read>
  void list(Read read) {
    expect("[");
    if (accept("]")) return;
    do read();
    while (accept(","));
    expect("]");
  }

 private:
  char escape() {
    if (at_ == text_.size()) fail("a string has no closing quote");
    const char c = text_[at_++];
    if (c != 'x') return c;
    unsigned code = 0;
    const char* begin = text_.data() + at_;
    const std::size_t width = std::min<std::size_t>(2, text_.size() - at_);
    const auto [end, error] = std::from_chars(begin, begin + width, code, 16);
    if (error != std::errc{} || end != begin + 2) fail("\\x in a string needs two hex digits");
    at_ += 2;
    return static_cast<char>(code);
  }

  void skip_blanks() {
    while (at_ < text_.size() && (text_[at_] == ' ' || text_[at_] == '\t' || text_[at_] == '\r'))
      ++at_;
    if (at_ < text_.size() && text_[at_] == '#') at_ = text_.size();
  }

  std::string rest() {
    skip_blanks();
    return at_ == text_.size() ? "the end of the line" : in_quotes(text_.substr(at_, 20));
  }

  std::string_view text_;
  const std::string& where_;
  std::uint32_t line_;
  std::size_t at_ = 0;
};

class GraphParser {
 public:
  GraphParser(std::string_view text, const std::string& where, const OpRegistry& ops)
      : text_(text), where_(where), ops_(ops) {}

  Graph parse() {
    bool header_seen = false;
    while (!text_.empty()) {
      const std::size_t end = std::min(text_.find('\n'), text_.size());
      ++line_;
      LineReader in(text_.substr(0, end), where_, line_);
      text_.remove_prefix(std::min(end + 1, text_.size()));
      if (in.at_end()) continue;
      if (!header_seen) {
        if (!in.accept("fuselage.graph") || in.number<int>() != 1)
          in.fail(fmt::format("a text graph begins with '{}'", kHeader));
        in.expect_end();
        header_seen = true;
        continue;
      }
      statement(in);
      in.expect_end();
    }
    if (!header_seen)
      throw Error(
          fmt::format("{}: the file is empty; a text graph begins with '{}'", where_, kHeader));
    return std::move(graph_);
  }

 private:
  void statement(LineReader& in) {
    try {
      if (in.accept("graph"))
        graph_.set_name(in.string());
      else if (in.accept("domain"))
        domain_statement(in);
      else if (in.accept("map"))
        map_statement(in);
      else if (in.accept("input"))
        input_statement(in);
      else if (in.accept("return"))
        return_statement(in);
      else
        node_statement(in);
    } catch (const LocatedError&) {
      throw;
    } catch (const Error& error) {
      // Errors of the graph do not know the text: add the line.
      in.fail(error.what());
    }
  }

  DomainId domain_name(LineReader& in) {
    const std::string_view name = in.name("a domain");
    const DomainId id = graph_.find_domain(name);
    if (!id.valid()) in.fail(fmt::format("domain {} is not declared", in_quotes(name)));
    return id;
  }

  MapId map_name(LineReader& in) {
    const std::string_view name = in.name("a map");
    const MapId id = graph_.find_map(name);
    if (!id.valid()) in.fail(fmt::format("map {} is not declared", in_quotes(name)));
    return id;
  }

  void domain_statement(LineReader& in) {
    std::string name(in.name("a domain name"));
    in.expect("=");
    const std::string_view kind = in.name("a kind of domain");
    const auto of = [&] {
      in.expect("of");
      return domain_name(in);
    };
    if (kind == "vocabulary") {
      graph_.add_vocabulary(std::move(name), in.number<std::int64_t>());
    } else if (kind == "sentence") {
      graph_.add_sentences(std::move(name));
    } else if (kind == "source") {
      graph_.add_source(std::move(name), of());
    } else if (kind == "shortlist") {
      graph_.add_shortlist(std::move(name), of());
    } else if (kind == "scan") {
      const DomainId source = of();
      graph_.add_scan(std::move(name), source, in.accept("reversed"));
    } else if (kind == "parent") {
      graph_.add_parents(std::move(name), of());
    } else if (kind == "hypothesis") {
      graph_.add_hypotheses(std::move(name), of());
    } else if (kind == "prefix") {
      graph_.add_prefix(std::move(name), of());
    } else if (kind == "pairs") {
      const DomainId left = of();
      in.expect(",");
      const DomainId right = domain_name(in);
      graph_.add_pairs(std::move(name), left, right, window(in));
    } else {
      in.fail(fmt::format("there is no kind of domain {}{}", in_quotes(kind),
                          did_you_mean(kind, kDomainKinds)));
    }
  }

  void map_statement(LineReader& in) {
    std::string name(in.name("a map name"));
    in.expect(":");
    const DomainId from = domain_name(in);
    in.expect("->");
    const DomainId to = domain_name(in);
    if (in.accept("neighbour")) {
      const auto distance = in.number<std::int64_t>();
      const MapId map = graph_.add_neighbour_map(std::move(name), to, distance);
      if (graph_.map(map).from != from)
        in.fail(fmt::format("neighbours in '{}' belong to rows of '{}', not of '{}'",
                            graph_.domain(to).name, graph_.domain(graph_.map(map).from).name,
                            graph_.domain(from).name));
    } else if (in.accept("token")) {
      const auto position = in.number<std::int64_t>();
      const MapId map = graph_.add_token_map(std::move(name), to, position);
      if (graph_.map(map).from != from)
        in.fail(fmt::format("tokens of '{}' belong to rows of '{}', not of '{}'",
                            graph_.domain(to).name, graph_.domain(graph_.map(map).from).name,
                            graph_.domain(from).name));
    } else if (in.accept("position")) {
      graph_.add_position_map(std::move(name), from, to,
                              in.at_end() ? 0 : in.number<std::int64_t>());
    } else if (in.accept("distance")) {
      graph_.add_distance_map(std::move(name), from, to, buckets(in));
    } else {
      graph_.add_word_map(std::move(name), from, to, in.accept("partial"));
    }
  }

  DistanceBuckets buckets(LineReader& in) {
    DistanceBuckets buckets;
    if (in.accept("logarithmic")) {
      buckets.kind = DistanceBuckets::Kind::logarithmic;
      buckets.max_distance = in.number<std::int64_t>();
    } else {
      in.expect("clipped");
    }
    buckets.causal = in.accept("causal");
    return buckets;
  }

  Window window(LineReader& in) {
    Window window;
    if (!in.accept("within")) return window;
    window.first = in.accept("-inf") ? -Window::kUnbounded : in.number<std::int64_t>();
    window.last = in.accept("inf") ? Window::kUnbounded : in.number<std::int64_t>();
    return window;
  }

  void input_statement(LineReader& in) {
    std::string name(in.name("an input name"));
    in.expect(":");
    const Type written = type(in);
    if (written.dtype != DType::f32)
      in.fail(fmt::format("input '{}' must be f32, not {}", name, graph_.show(written)));
    graph_.add_input(std::move(name), written.domain, written.dims);
  }

  void return_statement(LineReader& in) {
    do {
      std::string name(in.name("an output name"));
      in.expect("=");
      graph_.add_output(std::move(name), value_name(in));
    } while (in.accept(","));
  }

  ValueId value_name(LineReader& in) {
    in.expect("%");
    const std::string name(in.name("a value"));
    const auto found = values_.find(name);
    if (found == values_.end())
      in.fail(fmt::format("value {} is not defined above", in_quotes("%" + name)));
    return found->second;
  }

  Attr attribute_value(LineReader& in, AttrKind kind) {
    switch (kind) {
      case AttrKind::integer:
        return in.number<std::int64_t>();
      case AttrKind::real:
        return in.number<double>();
      case AttrKind::boolean:
        if (in.accept("true")) return true;
        in.expect("false");
        return false;
      case AttrKind::string:
        return in.string();
      case AttrKind::domain:
        return domain_name(in);
      case AttrKind::path: {
        MapPath path;
        in.list([&] { path.push_back(map_name(in)); });
        return path;
      }
      case AttrKind::dims: {
        Dims dims;
        in.list([&] { dims.push_back(in.number<std::int64_t>()); });
        return dims;
      }
      case AttrKind::reals: {
        std::vector<double> reals;
        in.list([&] { reals.push_back(in.number<double>()); });
        return reals;
      }
      case AttrKind::dtype:
        return dtype(in);
    }
    in.fail("an attribute of unknown kind");
  }

  DType dtype(LineReader& in) {
    const std::string_view name = in.name("an element type");
    const auto found = dtype_from_string(name);
    if (!found) in.fail(fmt::format("there is no element type {}", in_quotes(name)));
    return *found;
  }

  Type type(LineReader& in) {
    Type type{.domain = graph_.none()};
    const std::string_view first = in.name("a type");
    if (const auto plain = dtype_from_string(first)) {
      type.dtype = *plain;
    } else {
      type.domain = graph_.find_domain(first);
      if (!type.domain.valid()) in.fail(fmt::format("domain {} is not declared", in_quotes(first)));
      type.dtype = dtype(in);
    }
    in.list([&] { type.dims.push_back(in.number<std::int64_t>()); });
    return type;
  }

  std::vector<std::string> strings(LineReader& in) {
    std::vector<std::string> result;
    do result.push_back(in.string());
    while (in.accept(","));
    return result;
  }

  void node_statement(LineReader& in) {
    std::vector<std::string> results;
    if (in.accept("%")) {
      results.emplace_back(in.name("a value name"));
      while (in.accept(",")) {
        in.expect("%");
        results.emplace_back(in.name("a value name"));
      }
      in.expect("=");
    }
    const std::string_view op_name = in.name("an operator");
    const OpDef* op = ops_.find(op_name);
    if (!op)
      in.fail(fmt::format("there is no operator {}{}", in_quotes(op_name),
                          did_you_mean(op_name, names_of(ops_))));

    std::vector<ValueId> operands;
    in.expect("(");
    if (!in.accept(")")) {
      do operands.push_back(value_name(in));
      while (in.accept(","));
      in.expect(")");
    }
    AttrList attrs;
    if (in.accept("{")) {
      do {
        const std::string_view name = in.name("an attribute");
        const auto index = op->written_attribute_index(name);
        if (!index)
          in.fail(fmt::format("{} has no attribute {}{}", op_name, in_quotes(name),
                              did_you_mean(name, attribute_names(*op))));
        in.expect("=");
        const AttrSpec& spec = op->attributes[*index];
        attrs.emplace_back(spec.name, attribute_value(in, spec.kind));
      } while (in.accept(","));
      in.expect("}");
    }
    const NodeId id = graph_.add_node(*op, std::move(operands), attrs, {where_, line_});
    bind_results(in, id, results);
    if (in.at_end()) return;
    Provenance provenance;
    if (in.accept("from")) provenance.origins = strings(in);
    if (!in.at_end()) {
      in.expect("by");
      provenance.rules = strings(in);
    }
    graph_.set_provenance(id, std::move(provenance));
  }

  void bind_results(LineReader& in, NodeId id, const std::vector<std::string>& names) {
    const std::vector<ValueId> results = graph_.node(id).results;
    if (names.size() != results.size())
      in.fail(fmt::format("{} has {} results, but {} are named", graph_.node(id).op->name,
                          results.size(), names.size()));
    for (std::size_t i = 0; i < names.size(); ++i) {
      if (!values_.emplace(names[i], results[i]).second)
        in.fail(fmt::format("value '%{}' is defined twice", names[i]));
      if (names[i].find_first_not_of("0123456789") != std::string::npos)
        graph_.set_value_name(results[i], names[i]);
    }
    if (!in.accept(":")) return;
    for (std::size_t i = 0; i < results.size(); ++i) {
      if (i > 0) in.expect(",");
      const Type written = type(in);
      const Type& inferred = graph_.value(results[i]).type;
      if (written != inferred)
        in.fail(fmt::format("'%{}' is written as {}, but {} gives {}", names[i],
                            graph_.show(written), graph_.node(id).op->name, graph_.show(inferred)));
    }
  }

  std::string_view text_;
  const std::string& where_;
  const OpRegistry& ops_;
  Graph graph_;
  std::unordered_map<std::string, ValueId> values_;
  std::uint32_t line_ = 0;
};

}  // namespace

Graph parse_graph(std::string_view text, const std::string& where, const OpRegistry& ops) {
  expect_stack();
  return GraphParser(text, where, ops).parse();
}

}  // namespace fuselage
