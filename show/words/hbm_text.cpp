#include "show/words/hbm_text.hpp"

#include "core/text/message.hpp"
#include "core/text/numbers.hpp"
#include "core/text/words.hpp"
#include "show/words/narration.hpp"

namespace tilescope::show {
using namespace lab;
using text::message;
namespace {

/// "head 1 of 8"; nothing where there is one.
std::string slice_text(const TensorShown& t, const Computation& computation) {
    if (t.slices == 1) return "";
    return message("hbm.slice", computation.slice, std::to_string(t.slice + 1), std::to_string(t.slices));
}

}  // namespace

std::vector<std::string> hbm_titles(const Run& run) {
    const Report& r = run.counted();
    const std::string all = text::binary_bytes(r.experiment.gpu.hbm_bytes), used = text::bytes(r.hbm_footprint),
                      extra = text::bytes(r.hbm_extra);
    if (r.hbm_extra == 0) return {message("hbm.used", all, used)};
    std::vector<std::string> names;
    for (const TensorReport& tensor : r.tensors)
        if (tensor.extra) names.push_back(tensor.name);
    const std::string which = text::join(names, ", ");
    return {message("hbm.used_and_which_extra", all, used, extra, which),
            message("hbm.used_and_extra", all, used, extra), message("hbm.extra", used, extra, which),
            message("hbm.used_alone", used)};
}

std::string tensor_size(const TensorShown& t) { return text::bytes(t.bytes); }

std::string tensor_title(const TensorShown& t) { return t.tensor.name + "  " + tensor_size(t); }

std::string tensor_shape(const TensorShown& t) {
    return std::to_string(t.tensor.rows) + " × " + std::to_string(t.tensor.cols) + " " + name_of(t.tensor.dtype);
}

std::vector<std::vector<std::string>> tensor_lines(const TensorShown& t, const Computation& computation,
                                                   bool with_type) {
    const std::string brief = std::to_string(t.tensor.rows) + "×" + std::to_string(t.tensor.cols);
    const std::string role = name_of(t.tensor.role), slice = slice_text(t, computation);
    std::vector<std::string> whose = {role};
    if (!slice.empty()) whose = {role + " · " + slice, t.tensor.role == Role::scratch ? role : slice};
    return {{with_type ? tensor_shape(t) : brief}, whose};
}

std::string about_tensor(const TensorShown& t) {
    return message("hbm.tensor", tensor_title(t), std::to_string(t.slices), tensor_shape(t), name_of(t.tensor.role));
}

std::vector<std::string> touch_marks(const Touches& t) {
    const std::string arrow = t.written_now ? "↓" : t.read_now ? "↑" : "";
    const std::string count = t.loads > 0 ? "×" + std::to_string(t.loads) : "";
    if (arrow.empty() || count.empty()) return {arrow + count};
    return {arrow + count, count};
}

std::string counts_text(Count least, Count most) {
    if (most == 0) return "";
    return message(least < most ? "hbm.up_to_times" : "hbm.times", std::to_string(most));
}

std::string about_part(const Run& run, const RecordedTensor& tensor, const Region* region, const Touches& t) {
    const Bytes bytes = region ? region->rows.size * region->cols.size * size_of(tensor.dtype) : 0;
    return (region ? message("hbm.part", tensor.name, rows_of(run, *region), text::bytes(bytes))
                   : message("hbm.small_tiles")) +
           "\n" + message("hbm.touches", t.loads, t.stores);
}

}  // namespace tilescope::show
