#include "lab/flags/table.hpp"

#include <deque>
#include <vector>

#include "algorithms/contract/packed.hpp"
#include "algorithms/contract/registry.hpp"
#include "core/text/words.hpp"
#include "core/time/dispatch.hpp"
#include "lab/flags/like.hpp"
#include "lab/flags/rows.hpp"
#include "lab/model/mapping.hpp"

namespace tilescope::lab {
namespace {

constexpr Index most_per_sm = 1024, most_l2 = Index{1} << 50;

/// "on|off", "N" or "NAME".
std::string values_of(const Knob& k) {
    if (k.value == &Tiling::like) return "KERNEL|LIBRARY[:BACKEND]";
    return k.names.empty() ? "N" : text::join({k.names.begin(), k.names.end()}, "|");
}

/// A knob that is no size, of some algorithm: its value is kept as text, under its name.
Flag flag_of_knob(const Knob& k, const char* type) {
    const std::string name = k.name;
    return {k.name,
            FlagOf::mapping,
            k.about,
            type,
            "auto",
            [k, name](Options& o, const std::string& v) {
                if (v == "auto")
                    o.roles.erase(name);
                else if (k.value == &Tiling::like)  // more than the program's own kernels: like.hpp
                    o.roles[name] = as_named_kernel("--" + name, v);
                else
                    o.roles[name] = k.text(to_knob("--" + name, v, k));
            },
            [name](Options& o) { o.roles.erase(name); },
            [name](const Options& o) {
                const auto given = o.roles.find(name);
                return given == o.roles.end() ? std::string() : given->second;
            }};
}

void add_knobs(Rows& t) {
    static std::deque<std::string> types;  // live as long as the table
    for (const Knob* k : knobs_of_roles())
        t.rows.push_back(flag_of_knob(*k, types.emplace_back(values_of(*k)).c_str()));
}

void add_mapping(Rows& t) {
    constexpr auto mapping = FlagOf::mapping;
    t.add("br", mapping, "flag.br", "N", "auto", &Options::br, as_tile);
    t.add("bc", mapping, "flag.bc", "N", "auto", &Options::bc, as_tile);
    t.add("splits", mapping, "flag.splits", "N|fa2|fa3", "fallback.splits", &Options::splits,
          [](const std::string& flag, const std::string& v) {
              const Splits s = to_splits(flag, v);
              return s.number > 0 ? std::to_string(s.number) : v;
          });
    t.add("pack", mapping, "flag.pack", "on|off|auto", "auto", &Options::pack, as_one_of(packings));
    t.add("tiles", mapping, "flag.tiles", "RULE", "kernel", &Options::tiles, as_one_of(tile_rules));
    t.add("objective", mapping, "flag.objective", "WHAT", "time", &Options::objective, as_one_of(objectives));
    t.add("blocks-per-sm", mapping, "flag.blocks_per_sm", "N", "fallback.as_many_as_fit", &Options::blocks_per_sm,
          as_whole(1, most_per_sm, 2));
    add_knobs(t);
    t.add("order", mapping, "flag.order", "ORDER", "kernel", &Options::order, as_one_of(orders));
}

void add_machine(Rows& t) {
    constexpr auto machine = FlagOf::machine;
    t.add("gpu", machine, "flag.gpu", "NAME|FILE.json", "H100", &Options::gpu, as_words);
    t.rows.push_back({"l2", machine, "flag.l2", "on|off", "on",
                      [](Options& o, const std::string& v) { o.l2 = to_switch("--l2", v); },
                      [](Options& o) { o.l2 = true; }, [](const Options& o) { return o.l2 ? "" : "off"; }});
    t.add("l2-bytes", machine, "flag.l2_bytes", "N", "fallback.of_gpu", &Options::l2_bytes,
          as_whole(0, most_l2, Index{50} << 20));
    t.add("sms", machine, "flag.sms", "N", "fallback.of_gpu", &Options::sms, as_size);
    t.add("sram", machine, "flag.sram", "KIB", "fallback.of_gpu", &Options::sram_kib, as_number("164"));
    t.add("hbm-bandwidth", machine, "flag.hbm_bandwidth", "GB/S", "fallback.of_gpu", &Options::hbm_bandwidth,
          as_number("1555"));
}

}  // namespace

std::string Flag::as_given(const Options& o) const {
    return std::string("--") + name + (is_switch() ? "" : ' ' + text::shown(get(o)));
}

std::span<const Flag> flags() {
    static const std::vector<Flag> all = [] {
        Rows t;
        add_workload(t), add_mapping(t), add_machine(t);
        return t.rows;
    }();
    return all;
}

Options options_of(const Problem& problem) {
    const Problem p = unpacked(problem);
    Options o;
    for (const Flag& flag : flags())
        if (flag.write) flag.write(p, o);
    return o;
}

std::string flag_of(Feature feature, const Options& o) {
    for (const Flag& flag : flags())
        if (flag.asks_for == feature && flag.given(o)) return flag.as_given(o);
    return "--model " + o.model;
}

const char* attention_flag(const Options& o) {
    for (const Flag& flag : flags())
        if (flag.of == FlagOf::attention && flag.given(o)) return flag.name;
    return nullptr;
}

}  // namespace tilescope::lab
