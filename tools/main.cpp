#include "fuselage/tools/command_line.h"

int main(int argc, char** argv) { return fuselage::run_command_line(argc, argv); }
