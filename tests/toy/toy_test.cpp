// The toy container on its own: golden bytes and the rules of its reader. The promises of every container are tested
// together with the others: `toy.conformance` runs those tests with this row in the table.
#include "toy/toy.hpp"

#include <cstdlib>

#include "conformance/models.hpp"
#include "corpus.hpp"
#include "formats/rows.hpp"

namespace tare {
namespace {

using namespace tare::testing;

// Only on request, because the results of other tests are recorded without it.
const bool kAdded = std::getenv("TARE_TOY") != nullptr && (add_format<toy::kFormat>(), true);

std::string box(std::string_view header, std::string_view data = {}) {
  std::string file = "TOYBOX1\n";
  for (int i = 0; i < 4; ++i) file += static_cast<char>(header.size() >> (8 * i));
  file += header;
  if (!data.empty()) file.append((16 - file.size() % 16) % 16, '\0');
  return file + std::string(data);
}

using namespace std::string_literals;

// One tensor "w" of type i8 and shape [3].
const std::string kEntry = "\1\0w\1\1\3\0\0\0\0\0\0\0"s;

Model read(const std::string& file) { return toy::kFormat.read({"it", memory_source(to_bytes(file), "it")}, {}); }

TEST(Toy, GoldenBytes) {
  Model model;
  model.tensors.push_back(dense("w", {3}, DType::i8, Blob::memory(to_bytes("abc"))));
  EXPECT_EQ(to_text(write_bytes(toy::kFormat, model)), box("\1\0\0\0"s + kEntry, "abc"));
  model.metadata.set("k", "v");
  EXPECT_EQ(to_text(write_bytes(toy::kFormat, model)),
            box("\1\0\0\0"s + kEntry + R"({"tare":1,"metadata":{"k":"v"}})", "abc"));
  EXPECT_EQ(to_json(read(box("\1\0\0\0"s + kEntry + R"({"tare":1,"metadata":{"k":"v"}})", "abc")).metadata),
            R"({"k":"v"})");
}

struct ToyCase {
  std::string rule, name, file;
};

std::vector<ToyCase> toy_cases() {
  return {
      {"toy.header", "length", "TOYBOX1\n\5\0\0\0\0\0\0\0"s},
      {"toy.header", "entry", box("\1\0\0\0"s)},
      {"toy.type", "two", box("\1\0\0\0\1\0w\2\0"s)},
      {"toy.rank", "sixty_five", box("\1\0\0\0\1\0w\1\x41"s)},
      {"toy.tensor.bounds", "short", box("\1\0\0\0"s + kEntry, "ab")},
      {"toy.size", "long", box("\1\0\0\0"s + kEntry, "abcd")},
      {"toy.tensor.duplicate", "w", box("\2\0\0\0"s + kEntry + kEntry, "abc" + std::string(13, '\0') + "abc")},
      {"toy.private.form", "list", box("\0\0\0\0[]"s)},
      {"toy.private.form", "version", box("\0\0\0\0{\"tare\":2}"s)},
  };
}

const CorpusPart kToyCorpus([](Corpus& corpus) {
  for (const ToyCase& bad : toy_cases())
    if (kAdded) corpus["toy/reject." + bad.rule + "." + bad.name] = to_bytes(bad.file);
});

TEST(Toy, BrokenRules) {
  EXPECT_EQ(rule_of([&] { read("TOYBOX2\n\0\0\0\0"s); }), "toy.magic");
  for (const ToyCase& bad : toy_cases()) EXPECT_EQ(rule_of([&] { read(bad.file); }), bad.rule) << bad.name;
  Model model;
  model.tensors.push_back(dense(std::string(65536, 'n'), {0}, DType::i8, Blob::memory({})));
  EXPECT_EQ(rule_of([&] { write_bytes(toy::kFormat, model); }), "toy.write.name");
}

}  // namespace
}  // namespace tare
