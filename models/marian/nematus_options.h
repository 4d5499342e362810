#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace fuselage {

/// The options in the .json of Nematus that affect inference beyond what the tensors show.
struct NematusOptions {
  /// The inputs of products were scaled in training, so that they are scaled by what dropout kept.
  bool scale_by_dropout = false;
  double dropout_source = 0, dropout_target = 0, dropout_embedding = 0.2, dropout_hidden = 0.2;
  /// Paths of the vocabularies, as they were in training, the target's last.
  std::vector<std::string> dictionaries = {};
  /// Higher cells of the decoder have their biases at the state.
  bool trained_in_tensorflow = false;
};

/// Reads the text of a .json with the names of Theano's or of TensorFlow's Nematus. "" has all
/// defaults. Throws Error with `path`, the option and its value for an architecture that is not
/// supported, and for invalid values.
NematusOptions parse_nematus_options(std::string_view json, const std::string& path);

}  // namespace fuselage
