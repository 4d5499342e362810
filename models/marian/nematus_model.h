#pragma once

#include <string>
#include <string_view>

#include "fuselage/base/tensor.h"

namespace fuselage {

/// A model of Nematus under Marian's names, with the configuration that Marian would have for it.
struct NematusModel {
  TensorMap tensors;
  std::string config_yaml;
};

/// Whether tensors of a file without a configuration are those of Nematus.
bool is_nematus_model(const TensorMap& stored);

/// Gives a model that Nematus wrote for Theano, or that was converted to it, the form of Marian's.
/// Depth, normalization and tying are in the names of the tensors. `json` is the text of the .json
/// beside the file, "" if there is none: it states the dropout of models before version 0.1, which
/// scaled their inputs in training, and features that are refused. Weight normalization and that
/// scaling are folded into the matrices. `where` is for messages. Throws Error for other
/// architectures, with the option and its value.
NematusModel read_nematus_model(const TensorMap& stored, std::string_view json,
                                const std::string& where);

}  // namespace fuselage
