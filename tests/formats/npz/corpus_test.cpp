// The files of fuzz/corpus/npz that our writer does not make: those that break a rule, and those of other programs.
#include "corpus.hpp"

#include "conformance/models.hpp"
#include "formats/npy/header.hpp"
#include "zip_maker.hpp"

namespace tare {
namespace {

using namespace tare::testing;

void add_to_corpus(Corpus& corpus) {
  MadeMember member = made("a.npy", text_of(npy::write_header("|u1", {3})) + "123");
  member.flags = 1 << 3;
  for (const std::uint64_t value : {std::uint64_t{member.crc}, member.size, member.size + 1})
    testing::put<std::uint32_t>(member.after, value);
  corpus["npz/reject.zip.descriptor.size"] = bytes_of(make_zip({member}).bytes);
}

const CorpusPart kCorpusPart(add_to_corpus);

}  // namespace
}  // namespace tare
