#pragma once

#include <string>
#include <vector>

#include "corpus/output/journal.h"
#include "tools/options/options.h"

namespace fuselage {

/// What translations depend on: the version, the options that were given, except those of inputs,
/// outputs and speed, and the content of the files of model and options. Paths do not count, names
/// do.
JobFacts job_facts(const Options& options, const std::vector<std::string>& files);

/// The same with the sizes of inputs.
JobFacts with_inputs(JobFacts facts, const std::vector<std::string>& inputs);

}  // namespace fuselage
