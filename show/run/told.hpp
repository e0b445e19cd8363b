// A cache of objects derived from runs: made when first asked for, dropped when the session shows another run.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <tuple>

namespace tilescope::show {

template <class T, class... Where>
class Told {
  public:
    /// The object with the key `where`; make() makes it if it is not in the cache. `version` changes with what the
    /// session shows.
    template <class Make>
    T& of(std::uint64_t version, const std::tuple<Where...>& where, Make&& make) {
        if (version != version_) told_.clear();
        version_ = version;
        std::unique_ptr<T>& told = told_[where];
        if (!told) told.reset(new T(make()));
        return *told;
    }

  private:
    std::uint64_t version_ = 0;
    std::map<std::tuple<Where...>, std::unique_ptr<T>> told_;
};

}  // namespace tilescope::show
