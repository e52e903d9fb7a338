// Templates for the fuzz target chat: those of this folder, and the recorded expressions.
#include "corpus.hpp"

#include <fstream>
#include <iterator>
#include <string>

#include "base/text.hpp"
#include "wire/json.hpp"

namespace tare {
namespace {

using namespace tare::testing;

const std::string kFolder = std::string(TARE_TEST_DIR) + "/chat/";

std::string text_in(const std::string& name) {
  std::ifstream file(kFolder + name);
  return {std::istreambuf_iterator<char>(file), {}};
}

void add_to_corpus(Corpus& corpus) {
  for (const char* const name : {"headers", "kinds", "macros", "thinking"})
    corpus["chat/" + std::string(name)] = to_bytes(text_in("templates/" + std::string(name) + ".jinja"));

  constexpr std::size_t kMostBytes = 4000;  // less than the target reads
  wire::TreeBounds bounds;
  bounds.values = std::uint64_t{1} << 31;
  const Value recorded = wire::read_json(text_in("recorded.json"), bounds);
  std::string expressions;
  for (const Value& one : *recorded.get<Map>()->get<List>("templates")) {
    const std::string& source = *one.get<Map>()->get<std::string>("template");
    const Map& first = *one.get<Map>()->get<List>("cases")->front().get<Map>();
    const bool is_expression = first.get<Map>("variables") == nullptr,
               works = first.get<std::string>("text") != nullptr;
    if (is_expression && works && expressions.size() + source.size() < kMostBytes) expressions += source + "\n";
  }
  corpus["chat/expressions"] = to_bytes(expressions);
}

const CorpusPart kCorpusPart(add_to_corpus);

}  // namespace
}  // namespace tare
