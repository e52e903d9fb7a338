// Opens a link in the user's browser.
#pragma once

#include <memory>
#include <string>

#include "io/workshop.hpp"

namespace tare::cli {

// A page that leads to a link, in a file that nobody else can read: everybody can see the arguments of a process, and who
// has the link has all that it shows. It is removed with this, and when a signal ends the command.
class LinkPage {
 public:
  // Throws io `view.handover`.
  explicit LinkPage(const std::string& link);
  // "file:///run/user/1000/.tare-.../Tare.html"
  const std::string& link() const { return file_link_; }

 private:
  std::unique_ptr<io::Workshop> folder_;
  std::string file_link_;
};

// Whether there is likely a browser that can show something: a screen, or one that $BROWSER names.
bool has_browser();

// Starts the first that exists of those that $BROWSER names (commands, separated by colons; %s stands for the link), and of
// xdg-open and its like. It runs on its own: neither its words nor Ctrl-C reach it or come from it. False: there is none.
bool open_browser(const std::string& link);

}  // namespace tare::cli
