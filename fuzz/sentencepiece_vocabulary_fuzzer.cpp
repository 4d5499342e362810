#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <random>
#include <string>
#include <string_view>
#include <vector>

#include "fuselage/base/error.h"
#include "fuzz/check_message.h"
#include "fuzz/mutate.h"
#include "fuzz/use_vocabulary.h"
#include "text/sentencepiece/protobuf.h"
#include "text/sentencepiece/splitter.h"
#include "text/sentencepiece/vocabulary.h"
#include "text/words/word_vocabulary.h"

namespace {

using namespace fuselage;

constexpr std::uint32_t kPieces = 1;

void add(ProtobufWriter& writer, const ProtobufField& field) {
  if (field.type == WireType::bytes) writer.add_bytes(field.number, field.bytes);
  if (field.type == WireType::varint) writer.add_varint(field.number, field.value);
  if (field.type == WireType::fixed32) {
    float value = 0;
    std::memcpy(&value, &field.value, sizeof value);
    writer.add_float(field.number, value);
  }
}

/// Changes one field, at most `levels` levels down, and keeps the message readable. At the first
/// level the few fields other than pieces are chosen as often as the many pieces.
std::string mutate_field(std::string_view message, int levels, std::mt19937& random) {
  constexpr std::size_t kMore = 16;
  std::vector<ProtobufField> fields;
  std::vector<std::size_t> choices, rare;
  ProtobufReader reader(message);
  for (ProtobufField field; reader.next(field);) {
    choices.push_back(fields.size());
    if (levels == 1 && field.number != kPieces) rare.push_back(fields.size());
    fields.push_back(field);
  }
  if (fields.empty()) return std::string(message);
  if (!rare.empty() && random() % 2 == 0) choices = rare;
  ProtobufField& chosen = fields[choices[random() % choices.size()]];
  std::string content(chosen.bytes);
  if (chosen.type != WireType::bytes)
    chosen.value = random() % 2 == 0 ? random() % 8 : random();
  else if (levels > 0 && random() % 8 != 0)
    content = mutate_field(content, levels - 1, random);
  else
    mutate(content, content.size() + kMore);
  chosen.bytes = content;
  ProtobufWriter writer;
  for (const ProtobufField& field : fields) add(writer, field);
  if (random() % 16 == 0) add(writer, fields[random() % fields.size()]);
  return writer.message();
}

}  // namespace

extern "C" std::size_t LLVMFuzzerCustomMutator(std::uint8_t* data, std::size_t size,
                                               std::size_t max_size, unsigned seed) {
  std::string model(reinterpret_cast<const char*>(data), size);
  std::mt19937 random(seed);
  try {
    if (random() % 4 != 0)
      model = mutate_field(model, 1, random);
    else
      mutate(model, max_size);
  } catch (const Error&) {
    mutate(model, max_size);  // it cannot be read
  }
  return hand_over(model, data, max_size);
}

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  try {
    const std::shared_ptr<const TextSplitter> splitter =
        parse_sentencepiece_splitter(bytes, "fuzz.spm");
    use_vocabulary(
        *with_splitter(parse_word_vocabulary("</s>\n<unk>\na\n▁a\n>>a<<\n", "txt", ""), splitter),
        bytes);
    use_vocabulary(*parse_sentencepiece_vocabulary(bytes, "fuzz.spm"), bytes);
  } catch (const Error& error) {
    check_message(error);
  }
  return 0;
}
