#include "models/architectures/gru.h"

namespace fuselage {
namespace {

/// s' = (1 - z) h + z s.
Expr interpolate(Expr z, Expr h, Expr s) { return (1 - z) * h + z * s; }

struct Gates {
  Expr reset, update;
};

Gates split_gates(Expr gates, std::int64_t size) {
  return {slice(gates, 0, size), slice(gates, size, 2 * size)};
}

Expr plain_gru(Parameters& p, const std::string& n, Expr x, Expr s, const GruOptions& o) {
  const std::int64_t size = o.size;
  const Expr b = p.vector(n + "_b", 2 * size);
  const Expr bx = p.vector(n + "_bx", size);
  Expr gates = dot(s, p.matrix(n + "_U", size, 2 * size));
  Expr candidate = dot(s, p.matrix(n + "_Ux", size, size));
  if (x.valid()) gates = dot(x, p.matrix(n + "_W", x.width(), 2 * size)) + gates;
  const auto [r, z] = split_gates(sigmoid(gates + b), size);
  candidate = o.bias_in_reset ? r * (candidate + bx) : r * candidate;
  if (x.valid()) candidate = dot(x, p.matrix(n + "_Wx", x.width(), size)) + candidate;
  const Expr h = tanh(o.bias_in_reset ? candidate : candidate + bx);
  return interpolate(z, h, s);
}

Expr joint_norm_gru(Parameters& p, const std::string& n, Expr x, Expr s, const GruOptions& o) {
  const std::int64_t size = o.size;
  const Expr b = p.vector(n + "_b", 2 * size);
  const Expr bx = p.vector(n + "_bx", size);
  const Expr u = layer_norm(
      concat({dot(s, p.matrix(n + "_U", size, 2 * size)), dot(s, p.matrix(n + "_Ux", size, size))}),
      p.vector(n + "_gamma2", 3 * size), {}, kRnnNormEpsilon);
  Expr gates = slice(u, 0, 2 * size);
  Expr candidate = slice(u, 2 * size, 3 * size);
  Expr a;
  if (x.valid()) {
    a = layer_norm(concat({dot(x, p.matrix(n + "_W", x.width(), 2 * size)),
                           dot(x, p.matrix(n + "_Wx", x.width(), size))}),
                   p.vector(n + "_gamma1", 3 * size), {}, kRnnNormEpsilon);
    gates = slice(a, 0, 2 * size) + gates;
  }
  const auto [r, z] = split_gates(sigmoid(gates + b), size);
  candidate = o.bias_in_reset ? r * (candidate + bx) : r * candidate;
  if (x.valid()) candidate = slice(a, 2 * size, 3 * size) + candidate;
  const Expr h = tanh(o.bias_in_reset ? candidate : candidate + bx);
  return interpolate(z, h, s);
}

Expr nematus_norm_gru(Parameters& p, const std::string& n, Expr x, Expr s, const GruOptions& o) {
  const std::int64_t size = o.size;
  const Expr b = p.vector(n + "_b", 2 * size);
  const Expr bx = p.vector(n + "_bx", size);
  const auto with_bias = [&o](NematusBias place, Expr value, Expr bias) {
    return o.nematus_bias == place ? value + bias : value;
  };
  const auto state_side = [&](const std::string& matrix, std::int64_t width, Expr bias) {
    const Expr product = with_bias(NematusBias::state, dot(s, p.matrix(matrix, size, width)), bias);
    return nematus_norm(p, product, matrix);
  };
  const auto input_side = [&](const std::string& matrix, std::int64_t width, Expr bias) {
    const Expr product =
        with_bias(NematusBias::input, dot(x, p.matrix(matrix, x.width(), width)), bias);
    return nematus_norm(p, product, matrix);
  };
  Expr gates = with_bias(NematusBias::after_norm, state_side(n + "_U", 2 * size, b), b);
  if (x.valid()) gates = input_side(n + "_W", 2 * size, b) + gates;
  const auto [r, z] = split_gates(sigmoid(gates), size);
  Expr candidate = r * state_side(n + "_Ux", size, bx);
  candidate = with_bias(NematusBias::after_norm, candidate, bx);
  if (x.valid()) candidate = input_side(n + "_Wx", size, bx) + candidate;
  return interpolate(z, tanh(candidate), s);
}

}  // namespace

Expr nematus_norm(Parameters& p, Expr x, const std::string& name) {
  return layer_norm(x, p.vector(name + "_lns", x.width()), p.vector(name + "_lnb", x.width()),
                    1e-5);
}

Expr gru(Parameters& p, const std::string& prefix, Expr x, Expr s, const GruOptions& options) {
  const Builder::Scope scope(p.builder(), prefix);
  switch (options.norm) {
    case RnnNorm::none:
      return plain_gru(p, prefix, x, s, options);
    case RnnNorm::joint:
      return joint_norm_gru(p, prefix, x, s, options);
    case RnnNorm::nematus:
      break;
  }
  return nematus_norm_gru(p, prefix, x, s, options);
}

}  // namespace fuselage
