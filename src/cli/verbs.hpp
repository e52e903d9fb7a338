// The table of verbs. Help, the man page, completions and the dispatcher loop over it: a new verb needs one file, one
// declaration here and one entry in verbs.cpp.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "cli/command.hpp"
#include "tare/convert.hpp"

namespace tare::cli {

// The order is that of the help; hidden verbs come last.
std::span<const Verb* const> verbs();
// A heading in the list of verbs, and the verbs below it. Verbs in no group are listed by name only.
struct VerbGroup {
  std::string_view title;
  std::span<const Verb* const> verbs;
};
std::span<const VerbGroup> verb_groups();
// Words that people type because other programs call it so, and the verb that each one means.
struct Alias {
  std::string_view word, verb;
};
std::span<const Alias> aliases();
// Returns null if there is no such verb.
const Verb* find_verb(std::string_view name);
// The names of the verbs that are not hidden.
std::vector<std::string> verb_names();
// Returns for example "; did you mean verify?"; empty if no verb is similar.
std::string verb_hint(const std::string& word);

namespace info_verb {
extern const Verb kVerb;
}
namespace ls_verb {
extern const Verb kVerb;
}
namespace show_verb {
extern const Verb kVerb;
}
namespace cat_verb {
extern const Verb kVerb;
}
namespace extract_verb {
extern const Verb kVerb;
}
namespace meta_verb {
extern const Verb kVerb;
}
namespace vocab_verb {
extern const Verb kVerb;
}
namespace tokens_verb {
extern const Verb kVerb;
}
namespace convert_verb {
extern const Verb kVerb;
// Checks and returns the options of a conversion, for other verbs that convert; `verb` has the options.
ConvertOptions convert_options(const Arguments& arguments, const Verb& verb = kVerb);
}  // namespace convert_verb
namespace quantize_verb {
extern const Verb kVerb;
}
namespace append_verb {
extern const Verb kVerb;
}
namespace plan_verb {
extern const Verb kVerb;
}
namespace task_verb {
extern const Verb kVerb;
}
namespace finish_verb {
extern const Verb kVerb;
}
namespace verify_verb {
extern const Verb kVerb;
}
namespace hash_verb {
extern const Verb kVerb;
}
namespace diff_verb {
extern const Verb kVerb;
}
namespace view_verb {
extern const Verb kVerb;
}
namespace report_verb {
extern const Verb kVerb;
}
namespace compare_verb {
extern const Verb kVerb;
}
namespace perplexity_verb {
extern const Verb kVerb;
}
namespace calibrate_verb {
extern const Verb kVerb;
}
namespace load_verb {
extern const Verb kVerb;
}
namespace run_verb {
extern const Verb kVerb;
}
namespace formats_verb {
extern const Verb kVerb;
}
namespace families_verb {
extern const Verb kVerb;
}
namespace demo_verb {
extern const Verb kVerb;
}
namespace cache_verb {
extern const Verb kVerb;
}
namespace version_verb {
extern const Verb kVerb;
}
namespace help_verb {
extern const Verb kVerb;
}
namespace man_verb {
extern const Verb kVerb;
}
namespace completions_verb {
extern const Verb kVerb;
}

}  // namespace tare::cli
