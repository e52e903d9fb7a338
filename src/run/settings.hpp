// config.json, read strictly: a value of another kind than its key has is an error, and what nothing reads is a doubt.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "resources/config_file.hpp"
#include "tare/change.hpp"
#include "tare/error.hpp"

namespace tare::run {

// An error about config.json.
Error refused_config(std::string_view rule, std::string_view sentence, ErrorKind kind = ErrorKind::unsupported);

// In an object. Null counts as missing. Throw corrupt `run.config` for another kind. `shown`: the object's name with a dot
// at the end, for messages.
std::optional<double> number_in(const Map& object, std::string_view key, std::string_view shown = {});
std::string text_in(const Map& object, std::string_view key, std::string_view shown = {});
std::vector<double> numbers_in(const Map& object, std::string_view key, std::string_view shown = {});

// Throws corrupt `run.config` for the first value of another kind than transformers' class expects.
void require_kinds(const Map& config_json, std::string_view model_type);
// Keys of config.json that transformers' class does not read, unless they ask for nothing or are known to be apart from
// what a model computes.
std::vector<Change> unknown_settings(const Map& config_json, const resources::ConfigFile& file);

}  // namespace tare::run
