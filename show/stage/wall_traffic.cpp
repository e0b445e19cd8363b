#include "show/stage/wall_traffic.hpp"

#include <algorithm>
#include <cmath>

#include "core/text/message.hpp"
#include "core/text/numbers.hpp"
#include "core/text/words.hpp"

namespace tilescope::show {
using text::message;
namespace {

bool is_stored_score(const RecordedTensor& t) { return t.meaning == Meaning::score && t.role == Role::scratch; }

}  // namespace

std::vector<WallBytes> wall_bytes(const Run& run) {
    std::vector<WallBytes> all;
    const auto& now = run.player().state().tensors;
    for (TensorId id = 0; id < run.trace().tensors().size(); ++id) {
        const RecordedTensor& t = run.trace().tensors()[id];
        all.push_back({t.name, t.meaning, id < now.size() ? now[id].traffic : Traffic{}});
    }
    return all;
}

StoredBytes stored_bytes(const Run& run) {
    StoredBytes stored;
    std::vector<std::string> names;
    Bytes all = 0;
    bool back = true;
    for (TensorId id = 0; const WallBytes& b : wall_bytes(run)) {
        const Bytes bytes = b.so_far.read + b.so_far.sent();
        if (bytes > 0 && is_stored_score(run.trace().tensors()[id])) {
            if (names.empty()) stored.from = all;
            names.push_back(b.name), stored.to = all + bytes, back &= b.so_far.read > 0;
        }
        all += bytes, ++id;
    }
    if (names.empty()) return stored;
    stored.text = message(back ? "traffic.stored_and_back" : "traffic.stored", text::listed(names),
                          text::bytes(stored.to - stored.from));
    return stored;
}

bool stores_scores(const Run& run) {
    const auto& tensors = run.trace().tensors();
    return std::any_of(tensors.begin(), tensors.end(), is_stored_score);
}

std::optional<Bytes> other_bytes(const Run& run, const lab::Report& other) {
    if (!run.has_whole_heads()) return std::nullopt;
    return other.counters.hbm() / run.experiment().problem.batch_heads() * run.recorded().batch_heads();
}

std::string traffic_text(const Run& run, Bytes so_far, Bytes whole) {
    const Index heads = run.recorded().batch_heads();
    const bool all = heads == run.experiment().problem.batch_heads() && run.has_whole_heads();
    const std::string now = text::bytes(so_far), end = text::bytes(whole);
    if (!run.has_whole_heads()) return message("traffic.of_what_is_shown", now, end);
    if (all) return message("traffic.of_all", now, end);
    return message(run.recorded().packed > 1 ? "traffic.of_kv_heads" : "traffic.of_heads", now, end, heads);
}

std::string traffic_of_other_text(Bytes bytes, const std::string& algorithm) {
    return text::bytes(bytes) + ' ' + algorithm;
}

std::string traffic_part_text(const std::string& tensor, Bytes bytes) { return tensor + ": " + text::bytes(bytes); }

std::string whole_run_text(const Run& run) {
    const auto all = static_cast<double>(run.counted().counters.hbm());
    const double times = all / static_cast<double>(run.hbm(run.ticks()));
    if (times < 1.05) return message("traffic.whole_run_little_more", text::bytes(all));
    return message("traffic.whole_run", text::bytes(all),
                   times < 10 ? text::tenths(times) : text::grouped(std::llround(times)));
}

}  // namespace tilescope::show
