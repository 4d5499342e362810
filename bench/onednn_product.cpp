#include <omp.h>

#include <cstdint>
#include <map>
#include <memory>
#include <oneapi/dnnl/dnnl.hpp>

#include "bench/peer_products.h"

namespace fuselage {
namespace {

using dnnl::memory;

template <class T>
constexpr memory::data_type kType = memory::data_type::f32;
template <>
constexpr memory::data_type kType<std::int8_t> = memory::data_type::s8;
template <>
constexpr memory::data_type kType<std::int32_t> = memory::data_type::s32;

std::int64_t as_dim(std::size_t size) { return static_cast<std::int64_t>(size); }

// The product of T and T is of type Sum. The matrix is in the layout that the library prefers for
// the first number of rows.
template <class T, class Sum>
class OnednnProduct {
 public:
  OnednnProduct(const T* w, std::size_t k, std::size_t n)
      : k_(k),
        n_(n),
        plain_({as_dim(k), as_dim(n)}, kType<T>, memory::format_tag::ab),
        stored_(plain_, engine_, const_cast<T*>(w)) {}

  void operator()(const T* x, std::size_t rows, Sum* y) {
    const memory::desc source({as_dim(rows), as_dim(k_)}, kType<T>, memory::format_tag::ab);
    const memory::desc result({as_dim(rows), as_dim(n_)}, kType<Sum>, memory::format_tag::ab);
    auto& product = products_[rows];
    if (!product) product = make(source, result);
    product.execute(stream_, {{DNNL_ARG_SRC, {source, engine_, const_cast<T*>(x)}},
                              {DNNL_ARG_WEIGHTS, weights_},
                              {DNNL_ARG_DST, {result, engine_, y}}});
    stream_.wait();
  }

 private:
  dnnl::matmul make(const memory::desc& source, const memory::desc& result) {
    const memory::desc any({as_dim(k_), as_dim(n_)}, kType<T>, memory::format_tag::any);
    const dnnl::matmul::primitive_desc product(
        {source, weights_ ? weights_.get_desc() : any, result}, engine_);
    if (!weights_) {
      weights_ = memory(product.weights_desc(), engine_);
      dnnl::reorder(stored_, weights_).execute(stream_, stored_, weights_);
      stream_.wait();
    }
    return dnnl::matmul(product);
  }

  std::size_t k_, n_;
  dnnl::engine engine_{dnnl::engine::kind::cpu, 0};
  dnnl::stream stream_{engine_};
  memory::desc plain_;
  memory stored_, weights_;
  std::map<std::size_t, dnnl::matmul> products_;  // by number of rows
};

template <class T, class Sum>
auto product_on_one_thread(const T* w, std::size_t k, std::size_t n) {
  omp_set_num_threads(1);
  const auto product = std::make_shared<OnednnProduct<T, Sum>>(w, k, n);
  return [product](const T* x, std::size_t rows, Sum* y) { (*product)(x, rows, y); };
}

}  // namespace

PeerProduct onednn_product(const float* w, std::size_t k, std::size_t n) {
  return product_on_one_thread<float, float>(w, k, n);
}

PeerIntProduct onednn_int8_product(const std::int8_t* w, std::size_t k, std::size_t n) {
  return product_on_one_thread<std::int8_t, std::int32_t>(w, k, n);
}

}  // namespace fuselage
