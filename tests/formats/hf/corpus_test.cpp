// The files of fuzz/corpus/hf that no writer makes: those that break a rule, and those of other programs.
#include "corpus.hpp"

#include "conformance/hf_cases.hpp"
#include "conformance/models.hpp"
#include "conformance/pack_cases.hpp"

namespace tare {
namespace {

using namespace tare::testing;

// Each case is a directory.
void add_to_corpus(Corpus& corpus) {
  const auto add = [&](const std::string& name, const Files& files) {
    for (const auto& [file, bytes] : files) corpus["hf/" + name + "/" + file] = bytes;
  };
  add("valid.downloaded", hf_good());
  for (const HfCase& bad : hf_reject_cases()) add("reject." + bad.rule + "." + bad.name, bad.files);
  for (const HfCase& bad : pack_reject_cases()) add("reject." + bad.rule + "." + bad.name, bad.files);
  for (const HfCase& bad : split_reject_cases()) add("reject." + bad.rule + "." + bad.name, bad.files);
  add("valid.split", split_good_case().files);
  for (const HfCase& good : pack_good_cases()) add("valid.packed_" + good.name, good.files);
  for (const std::optional<std::uint64_t> shard_bytes :
       {std::optional<std::uint64_t>(), std::optional<std::uint64_t>(9000)}) {
    const Scratch scratch;
    const Format& hf = *find_format("hf");
    hf.write_tree(full_model(hf.holds), scratch / "d", {.shard_bytes = shard_bytes}, false);
    Files files;
    for (const auto& entry : std::filesystem::recursive_directory_iterator(scratch / "d"))
      if (entry.is_regular_file())
        files[std::filesystem::relative(entry.path(), scratch / "d").string()] = get_file(entry.path());
    add(shard_bytes ? "valid.shards" : "valid.full", files);
  }
}

const CorpusPart kCorpusPart(add_to_corpus);

}  // namespace
}  // namespace tare
