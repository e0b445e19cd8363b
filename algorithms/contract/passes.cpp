#include "algorithms/contract/passes.hpp"

#include <algorithm>

#include "algorithms/contract/pass_lists.hpp"
#include "core/machine/error.hpp"
#include "core/text/words.hpp"

namespace tilescope {
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
        refuse("has " + text::shown(std::string(name)) + ", which is no pass: they are " + text::join(names, ", "));
    }

    PassLaunch launch(std::string_view text) const {
        const std::size_t colon = std::min(text.find(':'), text.size());
        PassLaunch one;
        for (const std::string_view name : parts(text.substr(0, colon), '+')) one.passes.push_back(pass(name));
        if (colon == text.size()) return one;
        const std::string type(text.substr(colon + 1));
        one.type = dtype_from(type);
        if (!one.type) refuse("has " + text::shown(type) + " behind a colon, which must be f32, f16 or bf16");
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
            if (!fits_in_one(one.passes))
                refuse("has " + launch_name(one) +
                       ": one launch does product and what changes elements (scale, cap, "
                       "bias, mask), those and max, or exp and sum; put a / between the others");
            if (one.type && (one.has(Pass::seen) || one.has(Pass::any)))
                refuse("has " + launch_name(one) + ", which writes bytes: leave its type out");
            if (one.type && one.passes.size() == 1 && (one.has(Pass::max) || one.has(Pass::sum)))
                refuse("has " + launch_name(one) + ", which writes f32, a number for each row: leave its type out");
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
        const auto need = [&](Pass p, const char* what) {
            if (take(p)) return;
            const std::string behind = at > 0 ? std::string(" behind ") + name_of(order[at - 1]) : "";
            refuse((at < order.size() ? std::string("has ") + name_of(order[at]) : "ends") + behind + ", where " +
                   what + " must stand");
        };
        take(Pass::convert);
        const bool scaled = take(Pass::scale);
        need(Pass::product, "product, or convert and scale ahead of it,");
        if (take(Pass::scale) && scaled) refuse("has scale twice");
        take(Pass::cap), take(Pass::bias), take(Pass::mask), take(Pass::convert);
        if (!take(Pass::softmax)) {
            const bool has_max = take(Pass::max);
            need(Pass::exp,
                 has_max
                     ? "exp"
                     : "softmax, or max, exp, sum and divide, or what is left of scale, cap, bias, mask in this order");
            need(Pass::sum, "sum");
            need(Pass::divide, "divide");
        }
        if (take(Pass::seen)) {
            need(Pass::any, "any");
            need(Pass::clear, "clear");
        }
        take(Pass::convert), take(Pass::copy);
        need(Pass::product, "product, or what is left of seen, any and clear, convert, copy in this order");
        take(Pass::convert);
        if (at != order.size()) refuse(std::string("has ") + name_of(order[at]) + " where nothing can follow");
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
