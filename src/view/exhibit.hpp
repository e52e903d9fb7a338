// One model that is shown: opened once, with what the views ask for again and again worked out. Everything here is const
// after construction and may be used from many threads.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "tare/format.hpp"
#include "tare/model.hpp"

namespace tare::view {

// What a row of the list of tensors says.
struct Item {
  std::uint32_t type = 0, role = 0;        // in Exhibit::types and roles
  std::int32_t layer = -1, expert = -1;    // -1: of none
  std::uint64_t elements = 0, stored = 0;  // elements: 0 where more than 64 bits count
  double bits = 0;                         // per element
};

// Bytes of a file, and whose they are.
struct Segment {
  std::uint32_t file = 0;
  std::int64_t tensor = -1, attachment = -1;  // -1: none
  std::uint64_t offset = 0, bytes = 0;
  std::string_view role = {};  // of the component
};

struct File {
  std::string name;  // as the user would recognise it: without the directories before it
  std::uint64_t bytes = 0;
};

class Exhibit {
 public:
  // Opens the model. Throws what `open` throws.
  Exhibit(std::string path, const ReadOptions& options);
  // Shows a model that is open already. `path`: what it is called.
  Exhibit(std::string path, Model model, const ReadOptions& options = {});

  const std::string& path() const { return path_; }
  // The last part of it.
  std::string name() const;
  const Model& model() const { return model_; }
  const ReadOptions& options() const { return options_; }
  const std::vector<Item>& items() const { return items_; }
  const std::vector<std::string>& types() const { return types_; }
  const std::vector<std::string>& roles() const { return roles_; }
  // Tensors by name, in the order of bytes: those under one prefix are neighbours.
  const std::vector<std::uint32_t>& by_name() const { return by_name_; }
  // By file and offset.
  const std::vector<Segment>& segments() const { return segments_; }
  const std::vector<File>& files() const { return files_; }
  std::string_view family() const { return family_; }
  // The name of a tensor as JSON and a page show it.
  std::string shown_name(std::size_t tensor) const;

  // Throws what Model::check_sources does, and `view.vanished` or `view.replaced` when a file's name leads nowhere or to
  // another file than the one that is open.
  void check() const;

 private:
  void describe();
  void place();
  void locate();

  std::string path_;
  ReadOptions options_;
  Model model_;
  std::vector<Item> items_;
  std::vector<std::string> types_, roles_;
  std::vector<std::uint32_t> by_name_;
  std::vector<Segment> segments_;
  std::vector<File> files_;
  std::string family_;
};

// The part of a tensor's name that says which layer it belongs to, which expert, and what is left.
struct Place {
  std::int32_t layer = -1, expert = -1;
  std::string role;
};
// At most about `most` bytes of a name, shortened in the middle; one line, printable.
std::string short_name(std::string_view name, std::size_t most = 300);
// At most `most` bytes from the beginning; no character is cut in two.
std::string_view beginning_of(std::string_view text, std::size_t most);

// For names that no family knows: the first number is the layer, the next one the expert.
Place place_by_numbers(std::string_view name);

}  // namespace tare::view
