#include "bench/measure.h"

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <ctime>
#include <random>

#include "backends/cpu/simd/table.h"

namespace fuselage {

double now() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

double thread_seconds() {
  timespec time{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return static_cast<double>(time.tv_sec) + 1e-9 * static_cast<double>(time.tv_nsec);
}

double measured_peak() {
  constexpr std::size_t kRows = 60, kSize = 64, kRepeats = 20000;
  const std::vector<float> w(kSize * kSize, 0.5f), a(kRows * kSize, 0.5f);
  std::vector<float> c(kRows * kSize);
  const auto matrix = cpu::PackedMatrix::pack(w.data(), kSize, kSize, kSize, false);
  double best = 0;
  for (int block = 0; block < 5; ++block) {
    const double begin = thread_seconds();
    for (std::size_t i = 0; i < kRepeats; ++i)
      cpu::kernels().gemm({.data = a.data(), .stride = kSize, .columns = kSize}, kRows, matrix,
                          {c.data(), kSize});
    best = std::max(best, 2.0 * kRows * kSize * kSize * kRepeats / (thread_seconds() - begin));
  }
  return best;
}

double quantile(std::vector<double> values, double part) {
  std::ranges::sort(values);
  return values[static_cast<std::size_t>(part * static_cast<double>(values.size() - 1))];
}

double median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return values[values.size() / 2];
}

std::pair<double, double> median_bounds(const std::vector<double>& values) {
  std::mt19937 random(1);
  std::uniform_int_distribution<std::size_t> pick(0, values.size() - 1);
  std::vector<double> medians;
  for (int i = 0; i < 2000; ++i) {
    std::vector<double> sample(values.size());
    for (double& value : sample) value = values[pick(random)];
    medians.push_back(median(std::move(sample)));
  }
  std::sort(medians.begin(), medians.end());
  return {medians[50], medians[1949]};
}

Comparison compare(int pairs, const std::function<void()>& baseline,
                   const std::function<void()>& candidate, double (*clock)()) {
  const std::function<void()>* runs[] = {&baseline, &candidate};
  std::vector<double> seconds[2], ratios;
  for (int i = 0; i < pairs; ++i) {
    double spent[2] = {0, 0};
    for (const int which : {0, 1, 1, 0}) {
      const double begin = clock();
      (*runs[which])();
      spent[which] += clock() - begin;
    }
    for (const int which : {0, 1}) seconds[which].push_back(spent[which] / 2);
    ratios.push_back(spent[0] / spent[1]);
  }
  const auto [low, high] = median_bounds(ratios);
  return {median(seconds[0]), median(seconds[1]), median(ratios), low, high};
}

}  // namespace fuselage
