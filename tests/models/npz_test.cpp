#include "models/formats/npz.h"

#include <gmock/gmock.h>
#include <zip.h>

#include <cstring>

#include "base/files/file.h"
#include "fuselage/base/error.h"
#include "tests/temp_path.h"

namespace fuselage::npz_test {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

/// Bytes of an .npy member: the dictionary `dict` padded to a multiple of `padding`, then `data`.
std::string npy(const std::string& dict, const std::string& data, int version = 1,
                std::size_t padding = 16) {
  const std::size_t length_bytes = version == 1 ? 2 : 4;
  std::string header = dict;
  while ((8 + length_bytes + header.size() + 1) % padding != 0) header += ' ';
  header += '\n';
  std::string result("\x93NUMPY", 6);
  result += static_cast<char>(version);
  result += '\0';
  for (std::size_t i = 0; i < length_bytes; ++i)
    result += static_cast<char>(header.size() >> (8 * i) & 0xFF);
  return result + header + data;
}

std::string dict(const std::string& descr, const std::string& shape,
                 const std::string& fortran = "False") {
  return "{'descr': '" + descr + "', 'fortran_order': " + fortran + ", 'shape': " + shape + ", }";
}

template <typename T>
std::string bytes_of(std::initializer_list<T> values) {
  std::string result;
  for (const T value : values) {
    char raw[sizeof(T)];
    std::memcpy(raw, &value, sizeof(T));
    result.append(raw, sizeof(T));
  }
  return result;
}

struct Member {
  std::string name;
  std::string content;
  zip_int32_t method = ZIP_CM_STORE;
  std::string extra;
};

/// Bytes of a zip archive, written by libzip to a file and read back.
std::string make_zip(const std::vector<Member>& members) {
  const std::string path = temp_path("npz_test.npz");
  zip_t* archive = zip_open(path.c_str(), ZIP_CREATE | ZIP_TRUNCATE, nullptr);
  EXPECT_NE(archive, nullptr);
  for (const Member& member : members) {
    zip_source_t* source =
        zip_source_buffer(archive, member.content.data(), member.content.size(), 0);
    const zip_int64_t index = zip_file_add(archive, member.name.c_str(), source, 0);
    EXPECT_GE(index, 0);
    const auto at = static_cast<zip_uint64_t>(index);
    EXPECT_EQ(zip_set_file_compression(archive, at, member.method, 0), 0);
    if (!member.extra.empty()) {
      EXPECT_EQ(
          zip_file_extra_field_set(archive, at, 0xCAFE, ZIP_EXTRA_FIELD_NEW,
                                   reinterpret_cast<const zip_uint8_t*>(member.extra.data()),
                                   static_cast<zip_uint16_t>(member.extra.size()), ZIP_FL_LOCAL),
          0);
    }
  }
  EXPECT_EQ(zip_close(archive), 0);
  return read_file(path);
}

std::string small_matrix() {
  return npy(dict("<f4", "(2, 3)"), bytes_of<float>({1, 2, 3, 4, 5, 6}));
}

std::string error_of(const std::string& bytes) {
  try {
    read_npz(bytes, "m.npz");
  } catch (const Error& error) {
    EXPECT_THAT(error.what(), HasSubstr("m.npz"));
    EXPECT_THAT(error.what(), ::testing::Not(HasSubstr("\n")));
    return error.what();
  }
  return "";
}

std::string error_of_member(const std::string& content) {
  return error_of(make_zip({{"good.npy", small_matrix()}, {"bad.npy", content}}));
}

std::vector<float> floats(const Tensor& tensor) {
  return {tensor.data<float>(), tensor.data<float>() + tensor.size()};
}

/// The local header of a member as numpy writes it when it does not know the size in advance: both
/// 32-bit sizes are 0xFFFFFFFF and a zip64 field holds the true ones; the directory has them plain.
std::string with_zip64_local_header(std::string zip, const std::string& name) {
  const std::size_t header = zip.find("PK\x03\x04");
  std::string field = bytes_of<std::uint16_t>({0x0001, 16});
  for (const std::size_t at : {header + 22, header + 18}) {
    std::uint32_t size = 0;
    std::memcpy(&size, zip.data() + at, 4);
    field += bytes_of<std::uint64_t>({size});
    zip.replace(at, 4, "\xff\xff\xff\xff");
  }
  zip.replace(header + 4, 2, std::string("\x2d\x00", 2));
  std::uint16_t old_length = 0;
  std::memcpy(&old_length, zip.data() + header + 28, 2);
  const auto added = static_cast<std::uint16_t>(field.size());
  zip.replace(header + 28, 2,
              bytes_of<std::uint16_t>({static_cast<std::uint16_t>(old_length + added)}));
  zip.insert(header + 30 + name.size(), field);
  const std::size_t end = zip.rfind("PK\x05\x06");
  std::uint32_t directory = 0;
  std::memcpy(&directory, zip.data() + end + 16, 4);
  zip.replace(end + 16, 4, bytes_of<std::uint32_t>({directory + added}));
  zip.replace(directory + added + 6, 2, std::string("\x2d\x00", 2));
  return zip;
}

TEST(Npz, ReadsStoredAndDeflatedMembersWithEitherPadding) {
  const std::string data = bytes_of<float>({1, 2, 3, 4, 5, 6});
  for (const std::size_t padding : {16, 64})
    for (const zip_int32_t method : {ZIP_CM_STORE, ZIP_CM_DEFLATE})
      for (const int version : {1, 2, 3}) {
        const std::string member = npy(dict("<f4", "(2, 3)"), data, version, padding);
        const NpzFile file = read_npz(make_zip({{"W.npy", member, method}}), "m.npz");
        ASSERT_EQ(file.tensors.size(), 1u);
        const Tensor& tensor = file.tensors.at("W");
        EXPECT_EQ(tensor.dtype(), DType::f32);
        EXPECT_THAT(tensor.shape(), ElementsAre(2, 3));
        EXPECT_THAT(floats(tensor), ElementsAre(1, 2, 3, 4, 5, 6));
        EXPECT_EQ(file.config_yaml, "");
      }
}

TEST(Npz, DeflatesARepetitiveMember) {
  const std::string zeros(4 << 20, '\0');
  const std::string zip =
      make_zip({{"W.npy", npy(dict("<f4", "(1024, 1024)"), zeros), ZIP_CM_DEFLATE}});
  EXPECT_LT(zip.size(), 10000u);
  EXPECT_EQ(read_npz(zip, "m.npz").tensors.at("W").size(), 1 << 20);
}

TEST(Npz, ReadsZip64LocalHeadersAndExtraFields) {
  const std::string plain = make_zip({{"W.npy", small_matrix(), ZIP_CM_STORE, "extra bytes"}});
  EXPECT_EQ(read_npz(plain, "m.npz").tensors.at("W").size(), 6);
  const std::string zip = with_zip64_local_header(make_zip({{"W.npy", small_matrix()}}), "W.npy");
  EXPECT_THAT(floats(read_npz(zip, "m.npz").tensors.at("W")), ElementsAre(1, 2, 3, 4, 5, 6));
}

TEST(Npz, KeepsShapesAsTheyAre) {
  const NpzFile file =
      read_npz(make_zip({{"scalar.npy", npy(dict("<f4", "()"), bytes_of<float>({7}))},
                         {"row.npy", npy(dict("<f4", "(2,)"), bytes_of<float>({1, 2}))},
                         {"decoder_c_tt.npy", npy(dict("<f4", "(1, 0)"), "")}}),
               "m.npz");
  EXPECT_THAT(file.tensors.at("scalar").shape(), ElementsAre());
  EXPECT_THAT(floats(file.tensors.at("scalar")), ElementsAre(7));
  EXPECT_THAT(file.tensors.at("row").shape(), ElementsAre(2));
  EXPECT_THAT(file.tensors.at("decoder_c_tt").shape(), ElementsAre(1, 0));
}

TEST(Npz, ReadsEveryNumberTypeAndEachHarmlessByteOrder) {
  const std::pair<std::string, DType> types[] = {
      {"f2", DType::f16}, {"f4", DType::f32}, {"f8", DType::f64}, {"i1", DType::i8},
      {"i2", DType::i16}, {"i4", DType::i32}, {"i8", DType::i64}, {"u1", DType::u8},
      {"u2", DType::u16}, {"u4", DType::u32}, {"u8", DType::u64}};
  for (const auto& [name, dtype] : types)
    for (const std::string order : {"<", "=", "|"}) {
      const std::string data("\x01\x02\x03\x04\x05\x06\x07\x08", size_of(dtype));
      const NpzFile file =
          read_npz(make_zip({{"x.npy", npy(dict(order + name, "(1,)"), data)}}), "m.npz");
      const Tensor& tensor = file.tensors.at("x");
      EXPECT_EQ(tensor.dtype(), dtype) << name;
      EXPECT_EQ(std::memcmp(tensor.bytes(), data.data(), data.size()), 0) << name;
    }
}

TEST(Npz, TransposesFortranOrder) {
  std::string cube;
  for (int i = 0; i < 24; ++i) cube += bytes_of<float>({static_cast<float>(i)});
  const NpzFile file = read_npz(
      make_zip({{"m.npy", npy(dict("<f4", "(2, 3)", "True"), bytes_of<float>({1, 4, 2, 5, 3, 6}))},
                {"row.npy", npy(dict("<f4", "(2,)", "True"), bytes_of<float>({1, 2}))},
                {"none.npy", npy(dict("<f4", "(0, 3)", "True"), "")},
                {"cube.npy", npy(dict("<f4", "(2, 3, 4)", "True"), cube)}}),
      "m.npz");
  EXPECT_THAT(floats(file.tensors.at("m")), ElementsAre(1, 2, 3, 4, 5, 6));
  EXPECT_THAT(floats(file.tensors.at("row")), ElementsAre(1, 2));
  EXPECT_EQ(file.tensors.at("none").size(), 0);
  const std::vector<float> values = floats(file.tensors.at("cube"));
  for (int i = 0; i < 2; ++i)
    for (int j = 0; j < 3; ++j)
      for (int k = 0; k < 4; ++k)
        EXPECT_EQ(values[static_cast<std::size_t>((i * 3 + j) * 4 + k)],
                  static_cast<float>(i + 2 * j + 6 * k));
}

TEST(Npz, ParsesTheDictionaryTolerantly) {
  const std::string data = bytes_of<float>({1, 2, 3, 4, 5, 6});
  for (const std::string text :
       {"{'shape': (2, 3), 'fortran_order': False, 'descr': '<f4'}",
        "{\"shape\":(2,3,),\"descr\":\"<f4\",\"fortran_order\":False,}",
        "  { 'descr' : '<f4' , 'fortran_order' : False , 'shape' : ( 2L , 3L ) , }  ",
        "{u'descr': u'<f4', 'fortran_order': False, 'shape': (2, 3)}"}) {
    const NpzFile file = read_npz(make_zip({{"W.npy", npy(text, data)}}), "m.npz");
    EXPECT_THAT(file.tensors.at("W").shape(), ElementsAre(2, 3)) << text;
  }
}

TEST(Npz, CutsTheConfigurationAtItsFirstNulAndKeepsSpecialMembersApart) {
  const std::string padded = std::string("type: s2s\n") + std::string(6, '\0') + "junk";
  const NpzFile file =
      read_npz(make_zip({{"special:model.yml.npy", npy(dict("|i1", "(20,)"), padded)},
                         {"special:other.npy", npy(dict("|i1", "(2,)"), "ab")},
                         {"W.npy", small_matrix()}}),
               "m.npz");
  EXPECT_EQ(file.config_yaml, "type: s2s\n");
  EXPECT_EQ(file.tensors.size(), 1u);
}

TEST(Npz, SkipsTextAndObjectsAndForeignMembers) {
  const NpzFile file = read_npz(make_zip({{"o.npy", npy(dict("|O", "(3,)"), "pickle")},
                                          {"s.npy", npy(dict("|S5", "()"), "hello")},
                                          {"u.npy", npy(dict("<U2", "(1,)"), "12345678")},
                                          {"notes.txt", "x"},
                                          {"W.npy", small_matrix()}}),
                                "m.npz");
  EXPECT_EQ(file.tensors.size(), 1u);
}

TEST(Npz, MissingFileIsReportedAsMissing) {
  try {
    read_npz(std::string("/no/such/model.npz"));
    FAIL();
  } catch (const Error& error) {
    EXPECT_THAT(error.what(), AllOf(HasSubstr("/no/such/model.npz"), HasSubstr("No such file")));
  }
}

TEST(Npz, OtherFilesAreNamedAsSuch) {
  EXPECT_THAT(error_of(""), HasSubstr("the file is empty"));
  EXPECT_THAT(error_of("\x93NUMPY\x01"), HasSubstr("not an .npz archive"));
  EXPECT_THAT(error_of(make_zip({{"readme.txt", "x"}})), HasSubstr("no numeric .npy array"));
}

TEST(Npz, EveryTruncationIsAnError) {
  for (const zip_int32_t method : {ZIP_CM_STORE, ZIP_CM_DEFLATE}) {
    const std::string zip = make_zip({{"W.npy", small_matrix(), method}});
    for (std::size_t length = 2; length < zip.size(); ++length)
      EXPECT_THAT(error_of(zip.substr(0, length)), HasSubstr("truncated or damaged")) << length;
  }
}

TEST(Npz, AFlippedDataByteFailsTheChecksum) {
  const std::string content = small_matrix();
  const std::string zip = make_zip({{"W.npy", content}});
  const std::size_t data = zip.find(content);
  ASSERT_NE(data, std::string::npos);
  for (std::size_t i = content.size() - 24; i < content.size(); ++i) {
    std::string flipped = zip;
    flipped[data + i] = static_cast<char>(flipped[data + i] ^ 0x10);
    EXPECT_THAT(error_of(flipped), AllOf(HasSubstr("'W.npy'"), HasSubstr("CRC"))) << i;
  }
}

TEST(Npz, NoFlippedByteDoesMoreThanThrowAnError) {
  const std::string zip = make_zip({{"W.npy", small_matrix(), ZIP_CM_DEFLATE}});
  int refused = 0;
  for (std::size_t i = 2; i < zip.size(); ++i) {
    std::string flipped = zip;
    flipped[i] = static_cast<char>(flipped[i] ^ 0xFF);
    refused += error_of(flipped).empty() ? 0 : 1;
  }
  EXPECT_GT(refused, static_cast<int>(zip.size() / 2));
}

TEST(Npz, ADuplicateMemberIsAnError) {
  std::string zip = make_zip({{"aa.npy", small_matrix()}, {"ab.npy", small_matrix()}});
  for (std::size_t at = zip.find("ab.npy"); at != std::string::npos; at = zip.find("ab.npy"))
    zip[at + 1] = 'a';
  EXPECT_THAT(error_of(zip), HasSubstr("two members of the same name"));
}

TEST(Npz, HostileHeadersAreRefusedBeforeAnythingIsAllocated) {
  EXPECT_THAT(error_of_member(npy(dict("<f4", "(1000000000, 1)"), "1234")),
              AllOf(HasSubstr("'bad.npy'"), HasSubstr("needs 4000000000 bytes of data"),
                    HasSubstr("has 4")));
  EXPECT_THAT(error_of_member(npy(dict("<f4", "(9223372036854775807, 9223372036854775807)"), "")),
              HasSubstr("larger than"));
  EXPECT_THAT(error_of_member(npy(dict("<f4", "(4611686018427387904, 4, 0)"), "")),
              HasSubstr("larger than"));
  EXPECT_THAT(error_of_member(npy(dict("<f4", "(99999999999999999999,)"), "")),
              HasSubstr("dimension of 0 or more"));
  EXPECT_THAT(error_of_member(npy(dict("<f4", "(-1,)"), "")), HasSubstr("dimension of 0 or more"));
  std::string many = "(";
  for (int i = 0; i < 40; ++i) many += "1,";
  EXPECT_THAT(error_of_member(npy(dict("<f4", many + ")"), "1234")),
              HasSubstr("more than 32 dimensions"));
}

TEST(Npz, RefusesToExpandFarBeyondTheArchive) {
  // 16 times the archive, and 16 MiB.
  const auto zeros = [](std::size_t count) {
    return npy(dict("<f4", "(" + std::to_string(count) + ",)"), std::string(4 * count, '\0'));
  };
  EXPECT_EQ(error_of(make_zip({{"a.npy", zeros(4 << 20), ZIP_CM_DEFLATE}})), "");
  EXPECT_THAT(error_of(make_zip({{"a.npy", zeros(5 << 20), ZIP_CM_DEFLATE}})),
              AllOf(HasSubstr("when they are expanded, 16 times the"), HasSubstr("and 16 MiB")));
  EXPECT_THAT(error_of(make_zip({{"a.npy", zeros(5 << 19), ZIP_CM_DEFLATE},
                                 {"b.txt", zeros(5 << 19), ZIP_CM_DEFLATE}})),
              HasSubstr("when they are expanded"));
}

TEST(Npz, RefusesAnotherSizeThanTheDirectoryStates) {
  const std::string content = small_matrix();
  const std::string zip = make_zip({{"W.npy", content, ZIP_CM_DEFLATE}});
  const std::size_t entry = zip.find("PK\x01\x02");
  ASSERT_NE(entry, std::string::npos);
  for (const int change : {-4, 4}) {
    std::string changed = zip;
    const auto size = static_cast<std::uint32_t>(static_cast<int>(content.size()) + change);
    changed.replace(entry + 24, 4, bytes_of<std::uint32_t>({size}));
    EXPECT_THAT(error_of(changed), HasSubstr("'W.npy'")) << change;
  }
}

TEST(Npz, RefusesTooManyMembers) {
  std::vector<Member> members(65'537, {"", "x"});
  for (std::size_t i = 0; i < members.size(); ++i) members[i].name = std::to_string(i);
  EXPECT_THAT(error_of(make_zip(members)), HasSubstr("65537 members, at most 65536 are read"));
}

TEST(Npz, MalformedMembersNameTheirFault) {
  EXPECT_THAT(error_of_member("abc"), HasSubstr("too few"));
  EXPECT_THAT(error_of_member("this is no array"), HasSubstr("does not begin with"));
  EXPECT_THAT(error_of_member(npy(dict("<f4", "(2,)"), "1234567")), HasSubstr("needs 8 bytes"));
  EXPECT_THAT(error_of_member(npy(dict("<f4", "(2,)"), "123456789")), HasSubstr("needs 8 bytes"));
  EXPECT_THAT(error_of_member(npy(dict(">f4", "(1,)"), "1234")), HasSubstr("big-endian"));
  EXPECT_THAT(error_of_member(npy(dict("<c8", "(1,)"), "12345678")), HasSubstr("'<c8'"));
  EXPECT_THAT(error_of_member(npy(dict("<f4", "(1,)"), "1234", 4)), HasSubstr("version 4.0"));
  EXPECT_THAT(error_of_member(npy("{'descr': '<f4', 'shape': (1,)}", "1234")),
              HasSubstr("lacks the key 'fortran_order'"));
  EXPECT_THAT(error_of_member(npy("{'descr': '<f4', 'color': 1}", "1234")), HasSubstr("'color'"));
  EXPECT_THAT(error_of_member(npy("{'descr': [('a', '<f4')]}", "1234")), HasSubstr("no string"));
  EXPECT_THAT(error_of_member(npy("{'descr': '<f4", "")), HasSubstr("closing quote"));
  std::string long_header = small_matrix();
  long_header[9] = '\x7f';
  EXPECT_THAT(error_of_member(long_header), HasSubstr("header claims"));
}

TEST(Npz, AConfigurationOfWideNumbersIsRefused) {
  EXPECT_THAT(
      error_of(make_zip({{"special:model.yml.npy", npy(dict("<f4", "(1,)"), bytes_of<float>({1}))},
                         {"W.npy", small_matrix()}})),
      HasSubstr("i1 or u1"));
}

TEST(Npz, AnotherCompressionMethodIsNamed) {
  if (!zip_compression_method_supported(ZIP_CM_BZIP2, 1)) GTEST_SKIP() << "libzip has no bzip2";
  EXPECT_THAT(error_of(make_zip({{"W.npy", small_matrix(), ZIP_CM_BZIP2}})),
              HasSubstr("compression method 12"));
}

}  // namespace
}  // namespace fuselage::npz_test
