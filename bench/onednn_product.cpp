#include <omp.h>

#include <cstdint>
#include <memory>
#include <oneapi/dnnl/dnnl.hpp>

#include "bench/peer_products.h"

namespace fuselage {
namespace {

// The matrix is in whichever layout the library likes best.
class OnednnProduct {
 public:
  OnednnProduct(const float* w, std::size_t k, std::size_t n, std::size_t rows)
      : source_({as_dim(rows), as_dim(k)}, kType, dnnl::memory::format_tag::ab),
        result_({as_dim(rows), as_dim(n)}, kType, dnnl::memory::format_tag::ab),
        primitive_(
            {{source_, {{as_dim(k), as_dim(n)}, kType, dnnl::memory::format_tag::any}, result_},
             engine_}),
        weights_(primitive_.weights_desc(), engine_),
        product_(primitive_) {
    const dnnl::memory::desc plain({as_dim(k), as_dim(n)}, kType, dnnl::memory::format_tag::ab);
    dnnl::memory from(plain, engine_, const_cast<float*>(w));
    dnnl::reorder(from, weights_).execute(stream_, from, weights_);
    stream_.wait();
  }

  void operator()(const float* x, float* y) {
    const dnnl::memory source(source_, engine_, const_cast<float*>(x));
    const dnnl::memory result(result_, engine_, y);
    product_.execute(
        stream_, {{DNNL_ARG_SRC, source}, {DNNL_ARG_WEIGHTS, weights_}, {DNNL_ARG_DST, result}});
    stream_.wait();
  }

 private:
  static constexpr auto kType = dnnl::memory::data_type::f32;
  static std::int64_t as_dim(std::size_t size) { return static_cast<std::int64_t>(size); }

  dnnl::engine engine_{dnnl::engine::kind::cpu, 0};
  dnnl::stream stream_{engine_};
  dnnl::memory::desc source_, result_;
  dnnl::matmul::primitive_desc primitive_;
  dnnl::memory weights_;
  dnnl::matmul product_;
};

}  // namespace

PeerProduct onednn_product(const float* w, std::size_t k, std::size_t n, std::size_t rows) {
  omp_set_num_threads(1);
  const auto product = std::make_shared<OnednnProduct>(w, k, n, rows);
  return [product](const float* x, float* y) { (*product)(x, y); };
}

}  // namespace fuselage
