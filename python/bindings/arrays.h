#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

#include <cstddef>
#include <memory>
#include <vector>

/// A numpy array that owns a copy of `values`.
template <class T>
nanobind::ndarray<nanobind::numpy, T> to_array(const std::vector<T>& values) {
  auto kept = std::make_unique<std::vector<T>>(values);
  T* const data = kept->data();
  const std::size_t size = kept->size();
  const nanobind::capsule owner(
      kept.release(), [](void* pointer) noexcept { delete static_cast<std::vector<T>*>(pointer); });
  return nanobind::ndarray<nanobind::numpy, T>(data, {size}, owner);
}

/// The same with a row for each of `rows`, which have one length.
template <class T>
nanobind::ndarray<nanobind::numpy, T> to_matrix(const std::vector<std::vector<T>>& rows) {
  const std::size_t columns = rows.empty() ? 0 : rows.front().size();
  auto kept = std::make_unique<std::vector<T>>();
  kept->reserve(rows.size() * columns);
  for (const std::vector<T>& row : rows) kept->insert(kept->end(), row.begin(), row.end());
  T* const data = kept->data();
  const nanobind::capsule owner(
      kept.release(), [](void* pointer) noexcept { delete static_cast<std::vector<T>*>(pointer); });
  return nanobind::ndarray<nanobind::numpy, T>(data, {rows.size(), columns}, owner);
}
