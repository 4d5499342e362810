#include "server/models/model_store.h"

namespace fuselage {

ModelStore::ModelStore(Open open, QueueOptions queue) : open_(std::move(open)), queue_(queue) {
  reload();
}

std::shared_ptr<const ModelSet> ModelStore::models() const {
  const std::lock_guard lock(mutex_);
  return models_;
}

void ModelStore::reload() {
  std::shared_ptr<const ModelSet> fresh = std::make_shared<ModelSet>(open_(), queue_);
  {
    const std::lock_guard lock(mutex_);
    models_.swap(fresh);
  }
  // Here the old ones end, unless a request still has them.
}

}  // namespace fuselage
