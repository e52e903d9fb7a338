#include "cli/packed_remarks.hpp"

#include "codecs/packs/stored.hpp"
#include "resources/packed_config.hpp"

namespace tare::cli {

void remark_guesses(const Model& model, Session& session) {
  if (!codec::packs::has_joined(model)) return;
  const codec::packs::StoredForm arrays(model);
  const codec::packs::Found found = codec::packs::find_sets(*arrays, resources::stated_packing(model));
  for (const std::string& guess : found.guesses) session.remark(guess);
}

void remark_guesses(const Model& model, const Tensor& tensor, Session& session) {
  if (codec::packs::is_joined(tensor)) remark_guesses(model, session);
}

}  // namespace tare::cli
