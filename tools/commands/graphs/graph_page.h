#pragma once

#include <functional>
#include <string>

#include "fuselage/decoding/translator.h"

namespace fuselage {

/// What makes the page of `fuselage dump --format html` for the graph that a translator runs, from
/// any thread, also when the translator is gone. It has the times of nodes up to now that
/// CompileOptions::shared_profile collects, shows `name` in place of the model's path, and is made
/// anew at most once in a few seconds.
std::function<std::string()> graph_page_of(const Translator& translator, std::string name);

}  // namespace fuselage
