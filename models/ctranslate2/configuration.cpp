#include "models/ctranslate2/configuration.h"

#include <fmt/format.h>

#include "base/suggest.h"
#include "fuselage/base/error.h"
#include "models/formats/json.h"

namespace fuselage {
namespace {

/// Versions before have the configuration among the variables.
constexpr std::uint32_t kFirstWithConfiguration = 6;

/// The values of config.json, by type; null counts as absent.
class ConfigurationValues {
 public:
  ConfigurationValues(const std::string& json, const std::string& path) : path_(path) {
    if (json.empty()) return;
    object_ = load_json(json, path);
    if (!object_.is_object())
      throw Error(fmt::format("{}: a configuration is an object, not {}", path, shown(object_)));
  }

  std::optional<std::string> text(const char* key) const {
    const nlohmann::json* const value = find(key);
    if (value == nullptr) return std::nullopt;
    if (!value->is_string()) refuse(key, "a text", *value);
    return value->get<std::string>();
  }

  bool flag(const char* key) const {
    const nlohmann::json* const value = find(key);
    if (value == nullptr) return false;
    if (!value->is_boolean()) refuse(key, "true or false", *value);
    return value->get<bool>();
  }

  std::optional<double> number(const char* key) const {
    const nlohmann::json* const value = find(key);
    if (value == nullptr) return std::nullopt;
    if (!value->is_number()) refuse(key, "a number", *value);
    return value->get<double>();
  }

 private:
  static std::string shown(const nlohmann::json& value) {
    return in_quotes(value.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace));
  }

  const nlohmann::json* find(const char* key) const {
    const auto found = object_.find(key);
    return found == object_.end() || found->is_null() ? nullptr : &*found;
  }

  [[noreturn]] void refuse(const char* key, std::string_view kind,
                           const nlohmann::json& value) const {
    throw Error(fmt::format("{}: '{}' must be {}, not {}", path_, key, kind, shown(value)));
  }

  const std::string& path_;
  nlohmann::json object_ = nlohmann::json::object();
};

/// A text among the variables, whose bytes are its numbers.
std::string text_of(const Ctranslate2File& file, const std::string& name, std::string otherwise) {
  const Ctranslate2Variable* const variable = file.find(name);
  if (variable == nullptr || variable->dtype != DType::i8) return otherwise;
  return std::string(variable->bytes);
}

bool flag_of(const Ctranslate2File& file, const std::string& name, bool otherwise) {
  return attribute_of(file, name).value_or(otherwise ? 1 : 0) != 0;
}

}  // namespace

std::optional<double> attribute_of(const Ctranslate2File& file, const std::string& name) {
  const Ctranslate2Variable* const variable = file.find(name);
  if (variable == nullptr) return std::nullopt;
  const Tensor tensor = variable->tensor();
  if (tensor.size() != 1) return std::nullopt;
  return static_cast<double>(tensor.to_f32().data<float>()[0]);
}

Ctranslate2Configuration read_ctranslate2_configuration(const Ctranslate2File& file,
                                                        const std::string& json,
                                                        const std::string& path) {
  const ConfigurationValues values(json, path);
  Ctranslate2Configuration result;
  result.norm_epsilon = values.number("layer_norm_epsilon");
  if (result.norm_epsilon && !(*result.norm_epsilon >= 0 && *result.norm_epsilon < 1))
    throw Error(fmt::format("{}: 'layer_norm_epsilon' is {}, it must be from 0 to below 1", path,
                            *result.norm_epsilon));
  if (values.number("quantization_type").value_or(0) != 0)
    throw Error(fmt::format(
        "{}: 'quantization_type' {} (AWQ) is not supported; convert the model with int8", path,
        *values.number("quantization_type")));
  if (file.version >= kFirstWithConfiguration) {
    result.unknown = values.text("unk_token").value_or(result.unknown);
    result.begin = values.text("bos_token").value_or(result.begin);
    result.end = values.text("eos_token").value_or(result.end);
    result.source_begin = values.flag("add_source_bos");
    result.source_end = values.flag("add_source_eos");
    result.start = values.text("decoder_start_token");
    return result;
  }
  result.unknown = text_of(file, "unk_token", result.unknown);
  result.begin = text_of(file, "bos_token", result.begin);
  result.end = text_of(file, "eos_token", result.end);
  result.source_begin = flag_of(file, "with_source_bos", false);
  result.source_end = flag_of(file, "with_source_eos", false);
  if (!flag_of(file, "user_decoder_start_tokens", false))
    result.start = flag_of(file, "with_target_bos", true) ? result.begin : result.end;
  return result;
}

}  // namespace fuselage
