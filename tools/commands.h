#pragma once

#include <string>
#include <vector>

namespace fuselage {

// The sub-commands. Each takes the arguments after its name, returns the exit status, and throws
// Error for what the user must correct.

int run_translate(const std::vector<std::string>& arguments);
int run_score(const std::vector<std::string>& arguments);
int run_dump(const std::vector<std::string>& arguments);
int run_graph(const std::vector<std::string>& arguments);
int run_convert(const std::vector<std::string>& arguments);
int run_quantize(const std::vector<std::string>& arguments);

}  // namespace fuselage
