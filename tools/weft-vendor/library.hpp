// Library: a shared library that was loaded at run time, and its functions by name.
#pragma once

#include <dlfcn.h>

#include <string>

namespace weft::vendor {

class Library {
 public:
  explicit Library(const std::string& path) : handle_(::dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL)) {
    if (handle_ != nullptr) return;
    const char* why = ::dlerror();
    error_ = why != nullptr ? why : "cannot be loaded";
  }
  Library(const Library&) = delete;
  Library& operator=(const Library&) = delete;
  ~Library() = default;  // unloading vendors' libraries is how they crash; the process ends anyway

  explicit operator bool() const { return handle_ != nullptr; }

  const std::string& error() const { return error_; }

  // Null if the library does not have it: older ones lack some.
  template <typename Function>
  Function* find(const char* name) const {
    return reinterpret_cast<Function*>(::dlsym(handle_, name));
  }

 private:
  void* handle_;
  std::string error_;
};

}  // namespace weft::vendor
