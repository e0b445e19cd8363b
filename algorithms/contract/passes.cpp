#include "algorithms/contract/passes.hpp"

#include <algorithm>

#include "algorithms/contract/pass_lists.hpp"
#include "core/machine/dtypes.hpp"
#include "core/machine/error.hpp"
#include "core/text/message.hpp"
#include "core/text/words.hpp"

namespace tilescope {
using text::message;
namespace {

constexpr Pass all_passes[] = {Pass::product, Pass::scale, Pass::cap,   Pass::bias,    Pass::mask,
                               Pass::max,     Pass::exp,   Pass::sum,   Pass::divide,  Pass::softmax,
                               Pass::seen,    Pass::any,   Pass::clear, Pass::convert, Pass::copy};

class Reader {
  public:
    explicit Reader(std::string_view text) : text_(text) {}

    PassList list() {
        PassList all;
        for (const std::string_view launch : parts(text_, '/')) all.push_back(this->launch(launch));
        check(all);
        return all;
    }

  private:
    [[noreturn]] void refuse(const std::string& why) const {
        throw BadValue("passes", text::shown(std::string(text_)), why, "product/scale/mask/softmax/product");
    }

    static std::vector<std::string_view> parts(std::string_view text, char between) {
        std::vector<std::string_view> all;
        for (std::size_t begin = 0; begin <= text.size();) {
            const std::size_t end = std::min(text.find(between, begin), text.size());
            all.push_back(text.substr(begin, end - begin));
            begin = end + 1;
        }
        return all;
    }

    Pass pass(std::string_view name) const {
        std::vector<std::string> names;
        for (const Pass p : all_passes) {
            if (name == name_of(p)) return p;
            names.emplace_back(name_of(p));
        }
        refuse(message("passes.no_pass", text::shown(std::string(name)), text::join(names, ", ")));
    }

    PassLaunch launch(std::string_view text) const {
        const std::size_t colon = std::min(text.find(':'), text.size());
        PassLaunch one;
        for (const std::string_view name : parts(text.substr(0, colon), '+')) one.passes.push_back(pass(name));
        if (colon == text.size()) return one;
        const std::string type(text.substr(colon + 1));
        one.type = dtype_from(type);
        if (!one.type || size_of(*one.type) == 1) refuse(message("passes.no_type", text::shown(type)));
        return one;
    }

    /// One launch has: any one pass; exp and sum; product, then element passes; or element passes, then max.
    static bool fits_in_one(const std::vector<Pass>& passes) {
        const auto on_elements = [](Pass p) { return p >= Pass::scale && p <= Pass::mask; };
        if (passes.size() == 1 || passes == std::vector{Pass::exp, Pass::sum}) return true;
        const auto end = passes.end() - (passes.back() == Pass::max ? 1 : 0);
        const auto begin = passes.begin() + (passes.front() == Pass::product && end == passes.end() ? 1 : 0);
        return std::all_of(begin, end, on_elements);
    }

    void check(const PassList& list) const {
        std::vector<Pass> order;  // the passes of all launches, one after the other
        for (const PassLaunch& one : list) {
            if (!fits_in_one(one.passes)) refuse(message("passes.not_in_one_launch", launch_name(one)));
            if (one.type && (one.has(Pass::seen) || one.has(Pass::any)))
                refuse(message("passes.writes_bytes", launch_name(one)));
            if (one.type && one.passes.size() == 1 && (one.has(Pass::max) || one.has(Pass::sum)))
                refuse(message("passes.writes_f32", launch_name(one)));
            order.insert(order.end(), one.passes.begin(), one.passes.end());
        }
        check_order(order);
    }

    static std::string launch_name(const PassLaunch& one) { return tilescope::name_of(PassList{one}); }
    /// convert? scale? product scale? cap? bias? mask? convert? (softmax | max? exp sum divide) (seen any clear)?
    /// convert? copy? product convert? There is at most one scale.
    void check_order(const std::vector<Pass>& order) const {
        std::size_t at = 0;
        const auto take = [&](Pass p) { return at < order.size() && order[at] == p && (++at, true); };
        // "has bias behind mask, where softmax or ... must stand".
        const auto need = [&](Pass p, const std::string& what) {
            if (take(p)) return;
            if (at == order.size()) refuse(message("passes.ends", name_of(order[at - 1]), what));
            if (at == 0) refuse(message("passes.begins", name_of(order[at]), what));
            refuse(message("passes.stands_behind", name_of(order[at]), name_of(order[at - 1]), what));
        };
        take(Pass::convert);
        const bool scaled = take(Pass::scale);
        need(Pass::product, message("passes.product_first"));
        if (take(Pass::scale) && scaled) refuse(message("passes.scale_twice"));
        take(Pass::cap), take(Pass::bias), take(Pass::mask), take(Pass::convert);
        if (!take(Pass::softmax)) {
            const bool has_max = take(Pass::max);
            need(Pass::exp, has_max ? "exp" : message("passes.softmax_or_its_parts"));
            need(Pass::sum, "sum");
            need(Pass::divide, "divide");
        }
        if (take(Pass::seen)) {
            need(Pass::any, "any");
            need(Pass::clear, "clear");
        }
        take(Pass::convert), take(Pass::copy);
        need(Pass::product, message("passes.product_last"));
        take(Pass::convert);
        if (at != order.size()) refuse(message("passes.nothing_can_follow", name_of(order[at])));
    }

    std::string_view text_;
};

}  // namespace

const char* name_of(Pass pass) {
    constexpr const char* names[] = {"product", "scale",   "cap",  "bias", "mask",  "max",     "exp", "sum",
                                     "divide",  "softmax", "seen", "any",  "clear", "convert", "copy"};
    return names[static_cast<int>(pass)];
}

bool PassLaunch::has(Pass pass) const { return std::find(passes.begin(), passes.end(), pass) != passes.end(); }

PassList passes_from(std::string_view text) {
    for (const NamedPasses& named : pass_lists)
        if (text == named.name) text = named.passes;
    return Reader(text).list();
}

std::string name_of(const PassList& list) {
    std::string text;
    for (const PassLaunch& one : list) {
        if (!text.empty()) text += '/';
        for (const Pass& p : one.passes) text += (&p == one.passes.data() ? "" : "+") + std::string(name_of(p));
        if (one.type) text += std::string(":") + name_of(*one.type);
    }
    return text;
}

}  // namespace tilescope
