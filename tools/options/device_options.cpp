#include "tools/options/device_options.h"

#include <string>

#include "fuselage/backends/device.h"
#include "fuselage/base/error.h"

namespace fuselage {

CLI::Option* add_device_option(CLI::App& app, CompileOptions& compile) {
  const auto set = [&compile](const std::string& text) { set_device(compile, text); };
  const auto problem = [](const std::string& text) -> std::string {
    CompileOptions unused;
    try {
      set_device(unused, text);
    } catch (const Error& error) {
      return error.what();
    }
    return "";
  };
  return app
      .add_option_function<std::string>(
          "--device", set, "The device that runs the model: cpu, cuda (the first GPU) or cuda:N")
      ->check(CLI::Validator(problem, ""))
      ->type_name("DEVICE")
      ->default_str(compile.backend);
}

void add_gpu_options(CLI::App& app, CompileOptions& compile) {
  app.add_flag("--deterministic", compile.cuda.deterministic,
               "A translation has the same bits in any batch on a GPU too, which takes time there");
  app.add_flag("--tf32", compile.cuda.tf32,
               "Products of fp32 by the GPU's TF32, which has 10 bits of mantissa");
}

}  // namespace fuselage
