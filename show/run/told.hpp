// A cache of what is derived from runs: made when it is asked for, dropped when the session shows another run.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <tuple>

namespace tilescope::show {

template <class T, class... Where>
class Told {
  public:
    /// `version` changes with what the session shows; make() makes what is not in the cache yet.
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
