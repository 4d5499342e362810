#pragma once

#include <functional>
#include <memory>
#include <mutex>
#include <vector>

#include "server/models/served_model.h"

namespace fuselage {

/// The present models of a server. Thread-safe.
class ModelStore {
 public:
  using Open = std::function<std::vector<OpenedModel>()>;

  /// Opens the models; throws their errors.
  ModelStore(Open open, QueueOptions queue);

  std::shared_ptr<const ModelSet> models() const;
  /// Opens the models again, which take the place of the present ones if none fails. Requests that
  /// are under way keep those that they began with. Throws the errors of opening.
  void reload();

 private:
  Open open_;
  QueueOptions queue_;
  mutable std::mutex mutex_;
  std::shared_ptr<const ModelSet> models_;
};

}  // namespace fuselage
