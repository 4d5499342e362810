#pragma once

#include <string>

#include "fuselage/models/model.h"

namespace fuselage {

/// Loads a model from a directory that Hugging Face's Transformers saved (save_pretrained, or a
/// download of its hub): config.json, weights as safetensors, and the files of the tokenizer.
/// Throws Error as read_huggingface_config, read_checkpoint, find_text_files and build_model do.
Model load_huggingface_directory(const std::string& directory);

}  // namespace fuselage
