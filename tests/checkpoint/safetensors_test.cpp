// Safetensors files and sets of them: everything that a damaged or hostile file may hold is refused.
#include "checkpoint/safetensors.h"

#include "checkpoint/safetensors_writer.h"
#include "checkpoint/test_files.h"

#include <sys/stat.h>

#include <atomic>
#include <chrono>
#include <cstring>
#include <random>
#include <thread>

namespace orfebre {
namespace {

using testing::ElementsAre;

constexpr ErrorKind kBad = ErrorKind::kBadCheckpoint;

const char* kTwoTensors =
    R"({"a":{"dtype":"BF16","shape":[2,3],"data_offsets":[0,12]},"b":{"dtype":"F32","shape":[],"data_offsets":[12,16]}})";

class SafetensorsTest : public testing::Test {
 protected:
  void write_model(const std::string& header, const std::string& data) {
    directory_.write("model.safetensors", raw_safetensors(header, data));
  }
  // Opening the directory must fail with a text that has all of these parts.
  void refuses(const std::vector<std::string>& parts) {
    expect_error(kBad, parts, [&] { SafetensorsSet set(directory_.path()); });
  }
  // The same for a header over `data_bytes` zero bytes.
  void refuses_header(const std::string& header, size_t data_bytes, const std::vector<std::string>& parts) {
    SCOPED_TRACE(header.substr(0, 200));
    write_model(header, std::string(data_bytes, '\0'));
    refuses(parts);
  }

  TempDirectory directory_;
};

TEST_F(SafetensorsTest, ReadsTensorsWithShapesAndBytes) {
  write_model(kTwoTensors, "0123456789ab\x01\x02\x03\x04");
  const SafetensorsSet set(directory_.path());
  ASSERT_EQ(set.tensors().size(), 2u);
  EXPECT_EQ(set.total_bytes(), 16u);
  const TensorInfo* a = set.find("a");
  ASSERT_NE(a, nullptr);
  EXPECT_EQ(a->dtype, TensorDtype::kBf16);
  EXPECT_THAT(a->shape, ElementsAre(2, 3));
  std::string bytes(5, '?');
  set.read(bytes.data(), *a, 4, 5);
  EXPECT_EQ(bytes, "45678");
  ASSERT_NE(set.find("b"), nullptr);
  EXPECT_EQ(set.find("b")->size_bytes, 4u);
  EXPECT_EQ(set.find("c"), nullptr);
  set.check_unchanged();
}

TEST_F(SafetensorsTest, MetadataTrailingSpacesAndEmptyTensorsAreFine) {
  write_model(
      R"({"__metadata__":{"format":"mlx"},"e":{"dtype":"F32","shape":[0,7],"data_offsets":[0,0]},"x":{"dtype":"U8","shape":[1],"data_offsets":[0,1]}}    )",
      "!");
  const SafetensorsSet set(directory_.path());
  EXPECT_EQ(set.tensors().size(), 2u);
  EXPECT_EQ(set.find("e")->size_bytes, 0u);
}

TEST_F(SafetensorsTest, EveryTruncationIsAnError) {
  const std::string whole = raw_safetensors(kTwoTensors, std::string(16, 'x'));
  for (size_t size = 0; size < whole.size(); ++size) {
    SCOPED_TRACE(size);
    directory_.write("model.safetensors", whole.substr(0, size));
    refuses({"model.safetensors"});
  }
}

TEST_F(SafetensorsTest, TrailingBytesAreAnError) {
  write_model(kTwoTensors, std::string(17, 'x'));
  refuses({"expected", "found"});
}

TEST_F(SafetensorsTest, HeaderLengthBombs) {
  for (const uint64_t length : {uint64_t{1} << 63, ~uint64_t{0}, uint64_t{17} << 20, uint64_t{1000}}) {
    std::string text(reinterpret_cast<const char*>(&length), 8);
    directory_.write("model.safetensors", text + "{}");
    refuses({"header of at most", std::to_string(length)});
  }
}

TEST_F(SafetensorsTest, BadJson) {
  refuses_header("", 0, {"expected JSON"});
  refuses_header("{", 0, {"expected JSON"});
  refuses_header("[1]", 0, {"expected a JSON object"});
  refuses_header("{\"a\xff\":1}", 0, {"expected JSON"});
  refuses_header(std::string(100000, '['), 0, {"expected JSON"});
  std::string nested = "{\"a\":";
  for (int level = 0; level < 40; ++level) {
    nested += "{\"a\":";
  }
  refuses_header(nested + "1" + std::string(41, '}'), 0, {"expected JSON", "levels"});
}

TEST_F(SafetensorsTest, BadEntries) {
  refuses_header(R"({"a":3})", 0, {"\"a\"", "object"});
  refuses_header(R"({"a":{"shape":[1],"data_offsets":[0,4]}})", 4, {"\"a\"", "dtype"});
  refuses_header(R"({"a":{"dtype":"Q4","shape":[1],"data_offsets":[0,4]}})", 4, {"\"a\"", "Q4"});
  refuses_header(R"({"a":{"dtype":"F32","data_offsets":[0,4]}})", 4, {"\"a\"", "shape"});
  refuses_header(R"({"a":{"dtype":"F32","shape":[-1],"data_offsets":[0,4]}})", 4, {"\"a\"", "shape"});
  refuses_header(R"({"a":{"dtype":"F32","shape":[1.0],"data_offsets":[0,4]}})", 4, {"\"a\"", "shape"});
  refuses_header(R"({"a":{"dtype":"F32","shape":[18446744073709551615],"data_offsets":[0,4]}})", 4,
                 {"\"a\"", "shape"});
  refuses_header(R"({"a":{"dtype":"F32","shape":[1,1,1,1,1,1,1,1,1],"data_offsets":[0,4]}})", 4,
                 {"dimensions"});
  refuses_header(R"({"a":{"dtype":"F32","shape":[1]}})", 4, {"\"a\"", "data_offsets"});
  refuses_header(R"({"a":{"dtype":"F32","shape":[1],"data_offsets":[0]}})", 4, {"\"a\"", "data_offsets"});
  refuses_header(R"({"a":{"dtype":"F32","shape":[1],"data_offsets":[0,4,8]}})", 4, {"\"a\"", "data_offsets"});
  refuses_header(R"({"a":{"dtype":"F32","shape":[1],"data_offsets":[-4,0]}})", 4, {"\"a\"", "data_offsets"});
}

TEST_F(SafetensorsTest, ShapeOverflowAndWrongByteCount) {
  refuses_header(R"({"a":{"dtype":"F32","shape":[4294967296,4294967296],"data_offsets":[0,0]}})", 0,
                 {"\"a\"", "overflows", "[4294967296, 4294967296]"});
  refuses_header(R"({"a":{"dtype":"F64","shape":[2305843009213693952],"data_offsets":[0,0]}})", 0,
                 {"overflows"});
  refuses_header(R"({"a":{"dtype":"F32","shape":[3],"data_offsets":[0,8]}})", 8,
                 {"takes 12 bytes", "span 8"});
}

TEST_F(SafetensorsTest, OffsetsOutsideReversedOverlappingOrWithHoles) {
  refuses_header(R"({"a":{"dtype":"F32","shape":[2],"data_offsets":[0,8]}})", 4,
                 {"inside the 4 bytes", "0 to 8"});
  refuses_header(R"({"a":{"dtype":"F32","shape":[1],"data_offsets":[8,4]}})", 8, {"8 to 4"});
  refuses_header(R"({"a":{"dtype":"F32","shape":[1],"data_offsets":[18446744073709551612,0]}})", 8,
                 {"\"a\""});
  const std::string second = R"(,"b":{"dtype":"F32","shape":[1],"data_offsets":)";
  const std::string first = R"({"a":{"dtype":"F32","shape":[1],"data_offsets":[0,4]})";
  refuses_header(first + second + "[0,4]}}", 4, {"overlap"});
  refuses_header(first + second + "[2,6]}}", 6, {"overlap"});
  refuses_header(first + second + "[5,9]}}", 9, {"hole"});
}

TEST_F(SafetensorsTest, NamesTwice) {
  const std::string entry = R"("a":{"dtype":"U8","shape":[1],"data_offsets":)";
  refuses_header("{" + entry + "[0,1]}," + entry + "[1,2]}}", 2, {"\"a\"", "twice"});
  refuses_header(R"({"a":{"dtype":"U8","dtype":"F32","shape":[1],"data_offsets":[0,1]}})", 1,
                 {"dtype", "twice"});
}

TEST_F(SafetensorsTest, ControlCharactersOfNamesDoNotReachMessages) {
  write_model("{\"a\\u001b[31m\\n\":3}", "");
  try {
    SafetensorsSet set(directory_.path());
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(std::string(error.what()).find_first_of("\x1b\n"), std::string::npos);
  }
}

class ShardTest : public SafetensorsTest {
 protected:
  void SetUp() override {
    write_shard("model-1.safetensors", "a");
    write_shard("model-2.safetensors", "b");
  }
  void write_shard(const std::string& file, const std::string& tensor) {
    directory_.write(
        file,
        raw_safetensors("{\"" + tensor + R"(":{"dtype":"U8","shape":[1],"data_offsets":[0,1]}})", tensor));
  }
  void write_index(const std::string& weight_map) {
    directory_.write("model.safetensors.index.json", "{\"metadata\":{},\"weight_map\":" + weight_map + "}");
  }
};

TEST_F(ShardTest, ReadsEveryShardOfTheIndex) {
  write_index(R"({"b":"model-2.safetensors","a":"model-1.safetensors"})");
  const SafetensorsSet set(directory_.path());
  EXPECT_EQ(set.files().size(), 2u);
  for (const char* name : {"a", "b"}) {
    ASSERT_NE(set.find(name), nullptr);
    char byte = '?';
    set.read(&byte, *set.find(name), 0, 1);
    EXPECT_EQ(byte, *name);
  }
}

TEST_F(ShardTest, TheIndexWinsOverASingleFile) {
  write_index(R"({"a":"model-1.safetensors"})");
  write_shard("model.safetensors", "z");
  const SafetensorsSet set(directory_.path());
  EXPECT_EQ(set.find("z"), nullptr);
}

TEST_F(ShardTest, IndexProblems) {
  write_index(R"({"a":"model-1.safetensors","c":"model-3.safetensors"})");
  refuses({"model-3.safetensors", "missing"});
  write_index(R"({"a":"model-1.safetensors","c":"model-2.safetensors"})");
  refuses({"\"c\"", "model-2.safetensors"});
  write_index(R"({"a":"model-2.safetensors","b":"model-1.safetensors"})");
  refuses({"\"a\"", "do not belong together"});
  write_index(R"({"a":5})");
  refuses({"\"a\"", "file name"});
  write_index("[]");
  refuses({"weight_map"});
  write_index(R"({"a":"model-1.safetensors","a":"model-2.safetensors"})");
  refuses({"\"a\"", "twice"});
  directory_.write("model.safetensors.index.json", "{");
  refuses({"index.json", "JSON"});
}

TEST_F(ShardTest, IndexNeverLeavesTheDirectory) {
  const std::string elsewhere = directory_.path().substr(directory_.path().rfind('/') + 1);
  for (const std::string& name :
       {"../" + elsewhere + "/model-1.safetensors", directory_.path() + "/model-1.safetensors",
        std::string("./model-1.safetensors"), std::string(".."), std::string(""),
        std::string("sub\\\\model-1.safetensors"), std::string("model-1.safetensors\\u0000"),
        std::string("config.json")}) {
    SCOPED_TRACE(name);
    write_index("{\"a\":\"" + name + "\"}");
    refuses({"beside the index"});
  }
}

TEST_F(ShardTest, OneNameInTwoShards) {
  write_shard("model-2.safetensors", "a");
  write_index(R"({"a":"model-1.safetensors"})");
  EXPECT_NO_THROW(SafetensorsSet(directory_.path()));
  directory_.write(
      "model-2.safetensors",
      raw_safetensors(
          R"({"a":{"dtype":"U8","shape":[1],"data_offsets":[0,1]},"b":{"dtype":"U8","shape":[1],"data_offsets":[1,2]}})",
          "ab"));
  write_index(R"({"a":"model-1.safetensors","b":"model-2.safetensors"})");
  refuses({"\"a\"", "model-1.safetensors", "model-2.safetensors", "once"});
}

TEST_F(SafetensorsTest, EmptyDirectoryAndOddFiles) {
  expect_error(ErrorKind::kNotFound, {"neither"}, [&] { SafetensorsSet set(directory_.path()); });
  std::filesystem::create_directory(directory_.file("model.safetensors"));
  refuses({"regular file"});
  std::filesystem::remove(directory_.file("model.safetensors"));
  ASSERT_EQ(::mkfifo(directory_.file("model.safetensors").c_str(), 0600), 0);
  refuses({"regular file"});
}

TEST_F(SafetensorsTest, WriterRoundTrip) {
  const std::vector<TensorPlan> plans = {{"x \"quoted\"", TensorDtype::kU32, {3, 2}},
                                         {"y", TensorDtype::kBf16, {5}}};
  std::string bytes(34, '\0');
  std::mt19937 random(3);
  for (char& byte : bytes) {
    byte = static_cast<char>(random());
  }
  SafetensorsWriter writer(directory_.file("model.safetensors"), plans);
  writer.append(bytes.data(), 10);
  EXPECT_FALSE(std::filesystem::exists(directory_.file("model.safetensors")));
  writer.append(bytes.data() + 10, 24);
  writer.finish();
  const SafetensorsSet set(directory_.path());
  ASSERT_EQ(set.tensors().size(), 2u);
  EXPECT_EQ(set.tensors()[0].offset_bytes % 8, 0u);
  for (size_t index = 0; index < plans.size(); ++index) {
    EXPECT_EQ(set.tensors()[index].name, plans[index].name);
    EXPECT_EQ(set.tensors()[index].dtype, plans[index].dtype);
    EXPECT_EQ(set.tensors()[index].shape, plans[index].shape);
  }
  std::string back(24, '\0');
  set.read(back.data(), set.tensors()[0], 0, 24);
  EXPECT_EQ(back, bytes.substr(0, 24));
  EXPECT_FALSE(std::filesystem::exists(directory_.file("model.safetensors.partial")));
}

TEST_F(SafetensorsTest, AbandonedWriterLeavesNothing) {
  {
    SafetensorsWriter writer(directory_.file("model.safetensors"), {{"x", TensorDtype::kU8, {2}}});
    writer.append("1", 1);
  }
  EXPECT_TRUE(std::filesystem::is_empty(directory_.path()));
  expect_error(kBad, {"cannot write"},
               [&] { SafetensorsWriter writer(directory_.file("no/such/place"), {}); });
}

TEST_F(SafetensorsTest, FileTruncatedAfterOpeningIsAnErrorNotACrash) {
  const size_t n_bytes = 1 << 20;
  write_model(R"({"a":{"dtype":"U8","shape":[1048576],"data_offsets":[0,1048576]}})",
              std::string(n_bytes, 'x'));
  const SafetensorsSet set(directory_.path());
  std::string buffer(n_bytes, '\0');
  set.read(buffer.data(), *set.find("a"), 0, n_bytes);
  std::filesystem::resize_file(directory_.file("model.safetensors"), 4096);
  expect_error(kBad, {"truncated while"}, [&] { set.read(buffer.data(), *set.find("a"), 0, n_bytes); });
  expect_error(kBad, {"changed, replaced or removed"}, [&] { set.check_unchanged(); });
}

TEST_F(SafetensorsTest, FileReplacedRewrittenOrRemovedAfterOpening) {
  const std::string content = raw_safetensors(kTwoTensors, std::string(16, 'x'));
  const std::string path = directory_.file("model.safetensors");
  const auto opened = [&] {
    directory_.write("model.safetensors", content);
    std::filesystem::last_write_time(path,
                                     std::filesystem::file_time_type::clock::now() - std::chrono::hours(1));
    return SafetensorsSet(directory_.path());
  };
  {
    const SafetensorsSet set = opened();
    EXPECT_NO_THROW(set.check_unchanged(*set.find("a")));
    directory_.write("other", content);
    std::filesystem::last_write_time(directory_.file("other"), std::filesystem::last_write_time(path));
    std::filesystem::rename(directory_.file("other"), path);
    expect_error(kBad, {"changed, replaced or removed"}, [&] { set.check_unchanged(*set.find("a")); });
  }
  {
    const SafetensorsSet set = opened();
    directory_.overwrite("model.safetensors", content);  // same size, same inode, new time
    expect_error(kBad, {"changed, replaced or removed"}, [&] { set.check_unchanged(); });
  }
  {
    const SafetensorsSet set = opened();
    std::filesystem::remove(path);
    expect_error(kBad, {"changed, replaced or removed"}, [&] { set.check_unchanged(); });
  }
}

// Any byte of a small valid file changed, removed or inserted: an Error or a set that can be read, never a
// crash.
TEST_F(SafetensorsTest, RandomMutations) {
  const std::string whole = raw_safetensors(kTwoTensors, std::string(16, 'x'));
  std::mt19937 random(20260611);
  int refused = 0;
  int accepted = 0;
  for (int round = 0; round < 4000; ++round) {
    std::string mutant = whole;
    const int n_changes = 1 + static_cast<int>(random() % 3);
    for (int change = 0; change < n_changes && !mutant.empty(); ++change) {
      const size_t position = random() % mutant.size();
      switch (random() % 4) {
        case 0: mutant[position] = static_cast<char>(random()); break;
        case 1: mutant[position] = "0123456789{}[]\",:-"[random() % 18]; break;
        case 2: mutant.erase(position, 1 + random() % 4); break;
        default: mutant.insert(position, 1, "0123456789{}[]\",:-"[random() % 18]); break;
      }
    }
    if (random() % 2 == 0 && mutant.size() >= 8) {  // keep the length honest, so that the JSON is reached
      const uint64_t header_bytes = mutant.size() >= 24 ? mutant.size() - 24 : 0;
      std::memcpy(mutant.data(), &header_bytes, 8);
    }
    directory_.write("model.safetensors", mutant);
    try {
      const SafetensorsSet set(directory_.path());
      for (const TensorInfo& tensor : set.tensors()) {
        ASSERT_LE(tensor.size_bytes, mutant.size());
        std::string bytes(tensor.size_bytes, '\0');
        set.read(bytes.data(), tensor, 0, bytes.size());
      }
      ++accepted;
    } catch (const Error&) {
      ++refused;
    }
  }
  EXPECT_GT(refused, 1000);
  EXPECT_GT(accepted, 10);
}

TEST_F(SafetensorsTest, ManyThreadsReadAtOnce) {
  std::string data(1 << 16, '\0');
  for (size_t index = 0; index < data.size(); ++index) {
    data[index] = static_cast<char>(index * 31 >> 3);
  }
  write_model(R"({"a":{"dtype":"U8","shape":[65536],"data_offsets":[0,65536]}})", data);
  const SafetensorsSet set(directory_.path());
  std::vector<std::thread> threads;
  std::atomic<int> wrong{0};
  for (unsigned seed = 0; seed < 4; ++seed) {
    threads.emplace_back([&, seed] {
      std::mt19937 random(seed);
      for (int round = 0; round < 200; ++round) {
        const size_t from = random() % data.size();
        std::string part(std::min<size_t>(random() % 5000, data.size() - from), '?');
        set.read(part.data(), *set.find("a"), from, part.size());
        wrong += part != data.substr(from, part.size()) ? 1 : 0;
      }
    });
  }
  for (std::thread& thread : threads) {
    thread.join();
  }
  EXPECT_EQ(wrong.load(), 0);
}

}  // namespace
}  // namespace orfebre
