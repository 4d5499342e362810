#include "tools/options/device_options.h"

#include <string>
#include <string_view>

#include "fuselage/backends/backend.h"
#include "fuselage/backends/device.h"
#include "fuselage/base/error.h"

namespace fuselage {

namespace {

using SetDevice = void (*)(CompileOptions&, std::string_view);

/// A back-end without plans interprets graphs on no device; its own name stands for it.
void set_device_or_interpreter(CompileOptions& options, std::string_view text) {
  for (const Backend* backend : all_backends())
    if (!backend->capabilities().plans && text == backend->name()) {
      options.backend = text;
      return;
    }
  set_device(options, text);
}

CLI::Option* add_option(CLI::App& app, CompileOptions& compile, SetDevice set_in,
                        const std::string& description) {
  const auto set = [&compile, set_in](const std::string& text) { set_in(compile, text); };
  const auto problem = [set_in](const std::string& text) -> std::string {
    CompileOptions unused;
    try {
      set_in(unused, text);
    } catch (const Error& error) {
      return error.what();
    }
    return "";
  };
  return app.add_option_function<std::string>("--device", set, description)
      ->check(CLI::Validator(problem, ""))
      ->type_name("DEVICE")
      ->default_str(compile.backend);
}

}  // namespace

CLI::Option* add_device_option(CLI::App& app, CompileOptions& compile) {
  return add_option(
      app, compile, set_device,
      "The device that runs the model: cpu, cuda (the first GPU) or cuda:N; several GPUs as "
      "cuda:0,cuda:1");
}

CLI::Option* add_backend_option(CLI::App& app, CompileOptions& compile) {
  return add_option(app, compile, set_device_or_interpreter,
                    "The device that runs the graph: cpu, cuda (the first GPU) or cuda:N; or "
                    "reference, the interpreter");
}

void add_gpu_options(CLI::App& app, CompileOptions& compile) {
  app.add_flag("--deterministic", compile.cuda.deterministic,
               "A translation has the same bits in any batch on a GPU too, which takes time there");
  app.add_flag("--tf32", compile.cuda.tf32,
               "Products of fp32 by the GPU's TF32, which has 10 bits of mantissa");
}

}  // namespace fuselage
