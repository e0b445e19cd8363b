#include "python/bindings/program.hpp"

#include <pybind11/stl.h>

#include <array>

#include "algorithms/contract/scores.hpp"
#include "core/machine/event.hpp"
#include "core/machine/gpu_spec.hpp"
#include "core/text/message.hpp"
#include "python/bindings/here.hpp"
#include "python/bindings/texts.hpp"

namespace tilescope::python {
using text::message;
namespace {

constexpr Index most_line = 0xffff;  // of pseudo-code

/// A listener that wants no events. With it, thread blocks run one after the other, as Python needs.
struct OneThread : Listener {
    bool wants(Index, Index) override { return false; }
    Index next_wanted(Index, Index) override { return none_wanted; }
    void on(const Event&, TileData) override {}
};

/// A Python program's handle to the GPU. It can be used until the run is over.
struct OnGpu {
    std::shared_ptr<ProgramRun> run;
};

/// Python's text where a function was not entered because its arguments do not match; "" for any other exception.
std::string wrong_arguments(const py::error_already_set& e) {
    return !e.trace() && e.matches(PyExc_TypeError) ? py::str(e.value()).cast<std::string>() : "";
}

void call_body(const py::function& body, Block& b, const std::shared_ptr<ProgramRun>& run, std::span<const Span> at) {
    const auto block = std::make_shared<OnSm>(b, run);
    struct End {
        OnSm& block;
        ~End() { block.end(); }
    } const end{*block};
    try {
        if (at.size() == 1)
            body(block, at[0]);
        else if (at.size() == 2)
            body(block, at[0], at[1]);
        else
            body(block, at[0], at[1], at[2]);
    } catch (py::error_already_set& e) {
        if (const std::string wrong = wrong_arguments(e); !wrong.empty())
            throw ProgramError(with_place(at.size() == 1 ? message("handle.body_of_one_axis", wrong)
                                                         : message("handle.body_of_axes", at.size(), wrong)));
        throw_native(e);
    }
}

void launch(const OnGpu& on, const std::string& kernel, const std::vector<Axis>& axes, const py::function& body) {
    Gpu& gpu = on.run->open("launch");
    if (on.run->block) throw ProgramError(with_place(message("handle.block_launches")));
    if (axes.empty() || axes.size() > 3) throw ProgramError(with_place(message("handle.one_to_three_axes")));
    const char* const name = for_ever(kernel);
    const Here here = here_in_python();
    const auto& run = on.run;
    const auto call = [&](Block& b, auto... spans) {
        const std::array at{spans...};
        call_body(body, b, run, at);
    };
    if (axes.size() == 1)
        gpu.launch(
            name, {axes[0]}, [&](Block& b, Span i) { call(b, i); }, here);
    if (axes.size() == 2)
        gpu.launch(
            name, {axes[0], axes[1]}, [&](Block& b, Span i, Span j) { call(b, i, j); }, here);
    if (axes.size() == 3)
        gpu.launch(
            name, {axes[0], axes[1], axes[2]}, [&](Block& b, Span i, Span j, Span k) { call(b, i, j, k); }, here);
}

void store_kept_of(const OnGpu& on, const ByName& t, const Problem& p, const Tiles& rows, const Tiles& keys) {
    store_kept(on.run->open("store_kept"), t.of(*on.run), p, rows, keys);
}

InHbm slice_of(const InHbm& t, Hbm slice) { return {slice, t.name, t.run}; }

void define_tensors(py::module_& m) {
    py::class_<InHbm>(m, "Hbm", "A handle to a slice of a tensor in HBM, without a way to its elements.")
        .def_readonly("name", &InHbm::name)
        .def_property_readonly("rows", [](const InHbm& t) { return t.tensor.rows(); })
        .def_property_readonly("cols", [](const InHbm& t) { return t.tensor.cols(); })
        .def_property_readonly("dtype", [](const InHbm& t) { return name_of(t.tensor.dtype()); })
        .def(
            "slice", [](const InHbm& t, Index i) { return slice_of(t, t.tensor.slice(i)); }, py::arg("i"))
        .def(
            "of", [](const InHbm& t, Span head) { return slice_of(t, t.tensor.of(head)); }, py::arg("head"),
            "The slice that belongs to a head, as the tensor was declared to be sliced.");
    py::class_<ByName>(m, "Tensors", "The declared tensors: t[\"Q\"].")
        .def("__getitem__", &ByName::at, py::arg("name"));
    py::class_<OnChip>(m, "Tile", "A tile on chip. It is given back where its last name goes out of scope.")
        .def_property_readonly("rows", [](const OnChip& t) { return t.look().rows(); })
        .def_property_readonly("cols", [](const OnChip& t) { return t.look().cols(); })
        .def_property_readonly("dtype", [](const OnChip& t) { return name_of(t.look().dtype()); })
        .def_property_readonly("bytes", [](const OnChip& t) { return t.look().bytes(); });
    py::class_<OnGpu>(m, "Gpu", "The modelled GPU of a run.")
        .def("launch", &launch, py::arg("kernel"), py::arg("axes"), py::arg("body"),
             "Runs body(b, span...) for every thread block of a grid, one span an axis, the first axis outermost.")
        .def("store_kept", &store_kept_of, py::arg("t"), py::arg("p"), py::arg("rows"), py::arg("keys"),
             "The launch that draws a dropout mask that is stored; none where it is drawn again.")
        .def(
            "note", [](const OnGpu& g, const std::string& text) { g.run->open("note").note(text); }, py::arg("text"),
            "A remark for the user: a choice that explains the counts.")
        .def_property_readonly("machine", [](const OnGpu& g) { return g.run->open("machine").spec(); })
        .def(
            "capacity",
            [](const OnGpu& g, const std::string& space) { return g.run->open("capacity").capacity(space_of(space)); },
            py::arg("space") = "sram", "Bytes that a thread block has.");
}

}  // namespace

Gpu& ProgramRun::open(const char* what) const {
    if (!gpu) throw ProgramError(message("handle.run_is_over", what));
    return *gpu;
}

InHbm ByName::at(const std::string& name) const {
    if (!run->gpu) throw ProgramError(message("handle.run_of_tensor_is_over"));
    return {(*run->declared)[{name, here_in_python()}], name, run};
}

const Tensors& ByName::of(const ProgramRun& asking) const {
    if (run.get() == &asking) return *run->declared;
    throw ProgramError(with_place(message("handle.tensors_of_other_run")));
}

OnChip::OnChip(OnSm& block, Tile tile) : tile_(std::move(tile)), block_(&block), place_(block.tiles_.size()) {
    block.tiles_.push_back(this);
}

OnChip::~OnChip() {
    if (!block_) return;
    block_->tiles_[place_] = block_->tiles_.back();
    block_->tiles_[place_]->place_ = place_;
    block_->tiles_.pop_back();
}

const Tile& OnChip::look() const {
    if (!tile_) throw ProgramError(message("handle.tile_ended_before_look"));
    return *tile_;
}

Tile& OnChip::of(const OnSm& block) {
    if (block_ == &block) return *tile_;
    throw ProgramError(with_place(message(block_ ? "handle.tile_of_other_block" : "handle.tile_ended")));
}

void OnSm::end() {
    if (!block_) return;
    for (OnChip* tile : tiles_) tile->tile_.reset(), tile->block_ = nullptr;
    tiles_.clear();
    block_ = nullptr;
    if (run_->block == this) run_->block = nullptr;
}

Block& OnSm::open() const {
    if (!block_) throw ProgramError(with_place(message("handle.block_ended")));
    return *block_;
}

Index OnSm::index() const { return open().index(); }

void OnSm::at(Index line) {
    if (line < 0 || line > most_line)
        throw BadValue("line", std::to_string(line), message("given.line", std::to_string(most_line)), "1");
    open().at(static_cast<std::uint16_t>(line));
}

const Hbm& OnSm::hbm(const InHbm& tensor) const {
    if (tensor.run == run_) return tensor.tensor;
    throw ProgramError(with_place(message("handle.tensor_of_other_run", tensor.name)));
}

Here OnSm::enter(Block& block) {
    const Here here = here_in_python();
    if (run_->last == 0) return here;  // the program calls at() itself
    const bool inside = here.file == run_->file && here.line >= run_->first && here.line <= run_->last;
    const std::uint32_t line = inside ? here.line : line_within(run_->file, run_->first, run_->last);
    if (line != 0 && line != line_) block.at(static_cast<std::uint16_t>(line)), line_ = line;
    return here;
}

std::string with_place(const std::string& what) { return with_place(what, here_in_python()); }

std::string with_place(const std::string& what, Here here) { return message("mistake.at", what, source_of(here)); }

void run_python(const py::object& program, const char* file, Index first, Index last, Gpu& gpu, const Tensors& t,
                const Problem& p, const Tiling& tile) {
    static OneThread one_thread;
    gpu.listen(one_thread);
    const auto run = std::make_shared<ProgramRun>(ProgramRun{&gpu, file, first, last, nullptr, &t});
    struct End {
        ProgramRun& run;
        ~End() { run.gpu = nullptr; }
    } const end{*run};
    try {
        program(OnGpu{run}, ByName{run}, p, tile);
    } catch (py::error_already_set& e) {
        if (const std::string wrong = wrong_arguments(e); !wrong.empty())
            throw ProgramError(with_place(message("handle.program", wrong)));
        throw_native(e);
    }
}

void define_program(py::module_& m) { define_tensors(m); }

}  // namespace tilescope::python
