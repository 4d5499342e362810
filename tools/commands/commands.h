#pragma once

#include <memory>

#include "tools/options/command.h"

namespace fuselage {

std::unique_ptr<Command> make_translate_command();
std::unique_ptr<Command> make_generate_command();
std::unique_ptr<Command> make_score_command();
std::unique_ptr<Command> make_serve_command();
std::unique_ptr<Command> make_dump_command();
std::unique_ptr<Command> make_run_command();
std::unique_ptr<Command> make_convert_command();
std::unique_ptr<Command> make_quantize_command();
std::unique_ptr<Command> make_check_command();
std::unique_ptr<Command> make_lexicon_command();
std::unique_ptr<Command> make_info_command();
std::unique_ptr<Command> make_ops_command();
std::unique_ptr<Command> make_completion_command();
std::unique_ptr<Command> make_manual_command();

}  // namespace fuselage
