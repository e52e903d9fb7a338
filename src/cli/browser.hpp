// Opens a link in the user's browser.
#pragma once

#include <memory>
#include <string>

#include "io/staging_directory.hpp"

namespace tare::cli {

// A page that redirects to a link, in a file that only the user can read: all users can see the arguments of a process,
// and the link gives access to everything that it shows. The file is removed with this object, and if a signal ends the
// command.
class LinkPage {
 public:
  // Throws io `view.handover`.
  explicit LinkPage(const std::string& link);
  // For example "file:///run/user/1000/.tare-.../Tare.html".
  const std::string& link() const { return file_link_; }

 private:
  std::unique_ptr<io::StagingDirectory> folder_;
  std::string file_link_;
};

// Returns whether a browser can probably be shown: there is a screen, or $BROWSER names one.
bool has_browser();

// Starts the first existing one of the browsers that $BROWSER names (commands, separated by colons; %s is replaced by
// the link), then xdg-open and the like. The browser runs on its own: its output is discarded, and Ctrl-C does not
// reach it. Returns false if there is none.
bool open_browser(const std::string& link);

}  // namespace tare::cli
