#include <memory>
#include <string>
#include <vector>

#include "fuselage/base/extension.h"
#include "fuselage/inspect/op_table.h"
#include "tools/commands/commands.h"
#include "tools/options/files.h"
#include "tools/options/named_models.h"
#include "tools/options/validators.h"

namespace fuselage {
namespace {

class OpsCommand : public Command {
 public:
  OpsCommand();
  int run() override;

 private:
  std::string print() const;

  std::string name_;
  std::string format_ = "text";
  std::string output_ = "stdout";
  std::vector<std::string> extensions_;
};

OpsCommand::OpsCommand()
    : Command("ops",
              "Describe ops: operands, attributes, traits, and the kernels of each back-end.",
              {{"fuselage ops", "A line for each op."},
               {"fuselage ops layer_norm", "All about one op."},
               {"fuselage ops --format markdown -o ops.md", "All about all ops, as a page."}}) {
  CLI::App& app = options().app();
  options().begin_group("Input and output");
  app.add_option("NAME", name_, "An op")->type_name("NAME")->default_str("a list of all ops");
  app.add_option("--format", format_, "All but text describe each op fully, also without a name")
      ->type_name("FORMAT")
      ->check(one_of({"text", "json", "markdown"}))
      ->capture_default_str();
  app.add_option("-o,--output", output_, "Where to write")
      ->type_name("FILE")
      ->capture_default_str();
  add_extension_option(app, extensions_);
}

std::string OpsCommand::print() const {
  const std::vector<OpEntry> ops =
      name_.empty() ? op_table() : std::vector<OpEntry>{find_op_entry(name_)};
  if (format_ == "json") return print_ops_json(ops);
  if (format_ == "markdown") return print_ops_page(ops);
  return name_.empty() ? print_op_list(ops) : print_ops(ops);
}

int OpsCommand::run() {
  for (const std::string& extension : extensions_) load_extension(extension);
  const std::string text = print();
  OutputFile output(output_, {});
  output.write(text);
  output.close();
  return 0;
}

}  // namespace

std::unique_ptr<Command> make_ops_command() { return std::make_unique<OpsCommand>(); }

}  // namespace fuselage
