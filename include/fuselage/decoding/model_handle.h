#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "fuselage/backends/usage.h"
#include "fuselage/base/api.h"
#include "fuselage/base/stack.h"

namespace FUSELAGE_API fuselage {

/// The handle of a loaded model: what a Translator, Generator or Scorer tells of it and of its use.
template <typename Options>
class ModelHandle {
 public:
  /// The options, with the values of the members that were unset; only BatchOptions may stay unset.
  const Options& options() const { return state_->options(); }

  /// Notes for the user from loading the model, its vocabularies and weights.
  const std::vector<std::string>& notes() const { return state_->notes(); }

  /// Memory use up to now.
  MemoryUse memory() const { return state_->memory(); }

  /// Look-ups in tables of frequent rows up to now.
  std::vector<TableUse> table_use() const { return state_->table_use(); }

 protected:
  /// The private part of a subclass.
  class State {
   public:
    State() { expect_stack(); }
    virtual ~State() = default;
    virtual const Options& options() const = 0;
    virtual const std::vector<std::string>& notes() const = 0;
    virtual MemoryUse memory() const = 0;
    virtual std::vector<TableUse> table_use() const = 0;
  };

  explicit ModelHandle(std::unique_ptr<const State> state) : state_(std::move(state)) {}

  const State& state() const {
    expect_stack();
    return *state_;
  }

 private:
  std::unique_ptr<const State> state_;
};

}  // namespace fuselage
