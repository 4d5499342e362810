#pragma once

#include <string>
#include <vector>

#include "fuselage/base/api.h"
#include "fuselage/base/tensor.h"
#include "fuselage/models/model.h"

namespace FUSELAGE_API fuselage {

/// A model of a graph of your own: the graph, its parameters by name, and the paths of its
/// vocabularies (Model::vocabularies), or of one for both sides. Floats of any width become f32
/// where the graph has f32. Throws Error for a graph that is not valid or has no scores (see
/// Model), unless the weights are exactly the parameters of the graph, in name, type and shape, and
/// for a weight that is not finite.
Model make_model(Graph graph, const TensorMap& weights, std::vector<std::string> vocabularies = {});

}  // namespace fuselage
