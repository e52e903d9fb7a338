#include "parts.hpp"

#include <unistd.h>

#include <memory>
#include <optional>

#include "io/owner.hpp"
#include "io/place.hpp"

namespace tare::py {
namespace {

class PartsFolder {
 public:
  PartsFolder(const std::string& path, io::Place place, io::Directory opened)
      : path_(path), place_(std::move(place)), opened_(std::move(opened)) {}

  // A path to the opened folder, even if its name now refers to something else. Without /proc, only the name is
  // available.
  std::string path() const {
    const std::string found = "/proc/self/fd/" + std::to_string(opened_.descriptor());
    return ::access(found.c_str(), F_OK) == 0 ? found : path_;
  }

  // Removes these files, and then the folder if it is empty and its name still refers to it.
  void remove(const std::vector<std::string>& names) const {
    for (const std::string& name : names) static_cast<void>(opened_.remove_file(name.c_str()));
    if (place_.name != "." && place_.parent.is_still(place_.name.c_str(), opened_.descriptor()))
      static_cast<void>(place_.parent.remove_folder(place_.name.c_str()));
  }

 private:
  std::string path_;
  io::Place place_;
  io::Directory opened_;
};

// Opens the folder of a plan, without following a link. Null if it does not exist. `make`: creates it first.
std::unique_ptr<PartsFolder> open_folder(std::string path, bool make, bool any_owner) {
  while (path.size() > 1 && path.ends_with('/')) path.pop_back();
  constexpr std::string_view kRule = "plan.folder", kDoing = "cannot open the folder of the parts";
  const std::string above(io::folders_of(path));
  if (make && !above.empty() && !io::make_path(above)) throw io::system_error(kRule, kDoing, path, errno);
  if (!make && !above.empty() && !io::Directory::open(above.c_str()) && errno == ENOENT) return nullptr;
  io::Place place = io::find_place(path, kRule, kDoing, io::FollowLinks::no);
  if (!place.parent.has(place.name.c_str())) {
    if (!make) return nullptr;
    if (!place.parent.make(place.name.c_str(), 0777) && errno != EEXIST)
      throw io::system_error(kRule, "cannot make the folder of the parts", path, errno);
  }
  io::Directory opened = place.parent.enter(place.name.c_str());
  struct stat status {};
  if (!opened || !opened.status(status)) throw io::system_error(kRule, kDoing, path, errno);
  if (!any_owner && !io::is_trusted(status.st_uid))
    throw Error(ErrorKind::io, "plan.folder.owner",
                "the folder of the parts belongs to user " + std::to_string(status.st_uid) +
                    ", not to the user of this process, and may become another one at any time")
        .in(path)
        .remedy(Remedy::accept_owners);
  return std::make_unique<PartsFolder>(path, std::move(place), std::move(opened));
}

constexpr const char* kFolderName = "tare.parts";

PartsFolder& folder_of(PyObject* capsule) {
  void* const pointer = PyCapsule_GetPointer(capsule, kFolderName);
  if (pointer == nullptr) throw PythonError();
  return *static_cast<PartsFolder*>(pointer);
}

// _parts_folder(path, make, any_owner): (folder, path to it), or None if it does not exist.
PyObject* open_parts_folder(PyObject*, PyObject* args) {
  return guarded([&] {
    PyObject* path = nullptr;
    int make = 0, any_owner = 0;
    if (parse_tuple(args, "Opp", &path, &make, &any_owner) == 0) throw PythonError();
    const std::string place = path_of(path);
    std::unique_ptr<PartsFolder> opened;
    {
      const Unlocked others;
      opened = open_folder(place, make != 0, any_owner != 0);
    }
    if (opened == nullptr) return none();
    const Ref lead = text(opened->path());
    const Ref capsule = Ref::take(PyCapsule_New(opened.get(), kFolderName, [](PyObject* object) {
      delete static_cast<PartsFolder*>(PyCapsule_GetPointer(object, kFolderName));
    }));
    static_cast<void>(opened.release());
    return Ref::take(PyTuple_Pack(2, capsule.get(), lead.get()));
  });
}

// _remove_parts(folder, names)
PyObject* remove_parts(PyObject*, PyObject* args) {
  return guarded([&] {
    PyObject *capsule = nullptr, *list = nullptr;
    if (parse_tuple(args, "OO", &capsule, &list) == 0) throw PythonError();
    const PartsFolder& folder = folder_of(capsule);
    std::vector<std::string> names;
    const Py_ssize_t size = length_of_list(list);
    for (Py_ssize_t i = 0; i < size; ++i) names.push_back(text_of(PyList_GetItem(list, i), "a name"));
    {
      const Unlocked others;
      folder.remove(names);
    }
    return none();
  });
}

PyMethodDef parts_methods[] = {{"_parts_folder", open_parts_folder, METH_VARARGS, nullptr},
                               {"_remove_parts", remove_parts, METH_VARARGS, nullptr},
                               {nullptr, nullptr, 0, nullptr}};

}  // namespace

PyMethodDef* parts_functions() { return parts_methods; }

}  // namespace tare::py
