// SPDX-License-Identifier: Apache-2.0
#include "client/curl_library.h"

#include <dlfcn.h>
#include <fmt/format.h>

namespace stator {
namespace {

constexpr const char* kLibrary = "libcurl.so.4";

struct Loaded {
  CurlLibrary library = {};
  std::string complaint;  // empty if libcurl is loaded
};

class Loader {
 public:
  explicit Loader(Loaded& loaded) : loaded_(loaded), handle_(dlopen(kLibrary, RTLD_NOW)) {
    if (handle_ == nullptr) complain();
  }
  // No destructor unloads the library, because state of threads and OpenSSL outlives a handle.
  template <class Function>
  void find(Function& function, const char* name) {
    if (handle_ == nullptr) return;
    function = reinterpret_cast<Function>(dlsym(handle_, name));
    if (function == nullptr) complain();
  }

 private:
  void complain() {
    const char* reason = dlerror();
    loaded_.complaint = reason == nullptr ? "a symbol is missing" : reason;
  }

  Loaded& loaded_;
  void* handle_;
};

Loaded load() {
  Loaded loaded;
  CurlLibrary& library = loaded.library;
  Loader loader(loaded);
  decltype(&::curl_global_init) global_init = nullptr;
  loader.find(global_init, "curl_global_init");
  loader.find(library.easy_cleanup, "curl_easy_cleanup");
  loader.find(library.easy_getinfo, "curl_easy_getinfo");
  loader.find(library.easy_init, "curl_easy_init");
  loader.find(library.easy_perform, "curl_easy_perform");
  loader.find(library.easy_setopt, "curl_easy_setopt");
  loader.find(library.easy_strerror, "curl_easy_strerror");
  loader.find(library.free, "curl_free");
  loader.find(library.slist_append, "curl_slist_append");
  loader.find(library.slist_free_all, "curl_slist_free_all");
  loader.find(library.url, "curl_url");
  loader.find(library.url_cleanup, "curl_url_cleanup");
  loader.find(library.url_get, "curl_url_get");
  loader.find(library.url_set, "curl_url_set");
  if (loaded.complaint.empty() && global_init(CURL_GLOBAL_ALL) != CURLE_OK) {
    loaded.complaint = "it does not initialize";
  }
  return loaded;
}

const Loaded& loaded() {
  static const Loaded once = load();
  return once;
}

}  // namespace

Result<void> load_curl() {
  const std::string& complaint = loaded().complaint;
  if (complaint.empty()) return {};
  return fail(Code::kIo, fmt::format("{} is needed to reach a server and cannot be used: {}",
                                     kLibrary, complaint));
}

const CurlLibrary& curl() {
  return loaded().library;
}

}  // namespace stator
