// What a chat template does that no template needs: it reaches for the objects of the program that renders it, or for
// other files. Rendering is safe in Tare, whatever a template contains; other programs run the same text in Python.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "tare/error.hpp"
#include "tare/model.hpp"

namespace tare::chat {

// At most one for each rule (`chat.template.*`), with the line and the column of the first place. Looks at tokens, so that
// a template which is not supported, or is no template, is looked at as well.
std::vector<Error> reaches_of(std::string_view source);

// The same for every template that the model carries, in metadata and in files, each with its name.
std::vector<Error> reaches_of_templates(const Model& model);

}  // namespace tare::chat
