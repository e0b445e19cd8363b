#include "device/kernel_run.hpp"

#include <cmath>

#include "core/text/message.hpp"
#include "device/cuda_objects.cuh"
#include "device/eviction.cuh"
#include "device/reading.hpp"

namespace tilescope::device {
using text::message;
namespace {

constexpr double warm_up_ms = 10;    // clocks rise, code and data arrive
constexpr double short_ms = 0.05;    // a run that takes less is repeated between its events ...
constexpr double repeated_ms = 0.5;  // ... until they are this far apart
constexpr double patience_ms = 500;  // for the warm runs and for the cold ones
constexpr Index most_repetitions = 200, fewest_runs = 3;

/// Rows of `width` bytes, `pitch` bytes apart: the tensor's rows, or the slices of a tensor of one column.
struct Layout {
    std::size_t pitch, width, rows;

    explicit Layout(const TensorDecl& t) {
        const DeviceLayout l(t.rows, t.cols, t.dtype);
        const bool column = t.cols == 1;
        pitch = static_cast<std::size_t>((column ? l.slice : l.row) * size_of(t.dtype));
        width = static_cast<std::size_t>((column ? t.rows : t.cols) * size_of(t.dtype));
        rows = static_cast<std::size_t>(column ? t.slices : t.slices * t.rows);
    }
};

/// Copies rows between pitches.
void copy(void* to, std::size_t to_pitch, const void* from, std::size_t from_pitch, const Layout& l,
          cudaMemcpyKind kind) {
    const cudaError_t e = l.pitch == l.width ? cudaMemcpy(to, from, l.width * l.rows, kind)
                                             : cudaMemcpy2D(to, to_pitch, from, from_pitch, l.width, l.rows, kind);
    require(e, kind == cudaMemcpyHostToDevice ? "device.copies_input" : "device.copies_output");
}

}  // namespace

struct KernelRun::State {
    KernelLauncher launcher;
    KernelCall call;
    std::vector<TensorDecl> declared;
    std::vector<Buffer> buffers;
    Stream stream;

    State(KernelLauncher l, const KernelCase& c)
        : launcher(l),
          call{c.variant, c.problem, {}, nullptr, c.splits},
          declared(c.algorithm->tensors(c.problem, c.tile())) {
        call.stream = stream.get();
    }

    void enqueue() const { launcher(call); }

    /// Milliseconds for `runs` runs, one after the other.
    double timed(Index runs) const {
        Moment start, stop;
        start.record(stream);
        for (Index k = 0; k < runs; ++k) enqueue();
        stop.record(stream);
        return stop.since(start);
    }

    void add(const TensorDecl& t, const Inputs& inputs, Untouched untouched) {
        const auto size = static_cast<std::size_t>(device_bytes(t));
        void* const data = buffers.emplace_back(static_cast<Bytes>(size)).data();
        const auto given = inputs.find(std::string_view(t.name));
        const bool input = given != inputs.end();
        if (input || untouched == Untouched::poisoned) check(cudaMemset(data, 0xff, size), "cudaMemset");
        const Layout l(t);
        if (input) copy(data, l.pitch, given->second->data(), l.width, l, cudaMemcpyHostToDevice);
        call.tensors.add(t.name, {data, DeviceLayout(t.rows, t.cols, t.dtype)});
    }

    void add(const KernelTables& t) {
        upload(call.tables.first, t.first);
        upload(call.tables.visits, t.visits);
        upload(call.tables.documents, t.documents);
        upload(call.tables.blocks, t.blocks);
        for (std::size_t k = 0; k < std::size(t.bias_slices); ++k) upload(call.tables.bias_slices[k], t.bias_slices[k]);
        upload(call.tables.slopes, t.slopes);
    }

    void add_turns() {
        const Index row_blocks = ceil_div(call.problem.seq_q, call.variant->tile.br) * call.problem.batch_heads();
        const Bytes size = row_blocks * static_cast<Bytes>(sizeof *call.turns);
        call.turns = static_cast<std::uint32_t*>(buffers.emplace_back(size).data());
        check(cudaMemset(call.turns, 0, static_cast<std::size_t>(size)), "cudaMemset");
    }

  private:
    template <class T>
    void upload(const T*& to, const std::vector<T>& table) {
        if (table.empty()) return;
        const std::size_t size = table.size() * sizeof(T);
        void* const data = buffers.emplace_back(static_cast<Bytes>(size)).data();
        require(cudaMemcpy(data, table.data(), size, cudaMemcpyHostToDevice), "device.copies_table");
        to = static_cast<const T*>(data);
    }
};

KernelRun::KernelRun(const KernelCase& c, const Inputs& inputs, Untouched untouched) {
    const KernelLauncher launcher = launcher_of(*c.algorithm);
    if (!launcher) throw RunError(message("device.no_kernel", c.algorithm->name));
    const Bytes needed = device_bytes(c), free = free_memory();
    if (needed > free) throw OutOfDeviceMemory(needed, free);
    state_ = std::make_unique<State>(launcher, c);
    for (const TensorDecl& t : state_->declared) state_->add(t, inputs, untouched);
    state_->add(tables_of(c.problem, c.tile()));
    if (c.variant->takes_turns) state_->add_turns();
    require(cudaDeviceSynchronize(), "device.prepares_tensors");  // they were filled from another stream
}

KernelRun::~KernelRun() = default;

void KernelRun::launch() {
    state_->enqueue();
    state_->stream.wait();
}

std::shared_ptr<Storage> KernelRun::download(std::string_view name) const {
    for (const TensorDecl& t : state_->declared) {
        if (name != t.name) continue;
        const Layout l(t);
        auto storage = std::make_shared<Storage>(t.dtype, t.slices, t.rows, t.cols);
        copy(storage->data(), l.width, state_->call.tensors[name].data, l.pitch, l, cudaMemcpyDeviceToHost);
        return storage;
    }
    throw std::logic_error("download: no such tensor");
}

KernelTimes KernelRun::time(Index most, Control* control) {
    const auto stopped = [&] { return control && control->stop; };
    double once = 0, total = 0;
    for (Index k = 0; k < most_repetitions && (k < 2 || total < warm_up_ms) && !stopped(); ++k)
        total += once = state_->timed(1);
    const Index repetitions =
        once < short_ms ? std::min(most_repetitions, static_cast<Index>(std::ceil(repeated_ms / std::max(once, 1e-3))))
                        : 1;
    const double each = std::max(once, 1e-3) * static_cast<double>(repetitions);
    const Index runs = std::clamp(static_cast<Index>(patience_ms / each), std::min(fewest_runs, most), most);

    std::vector<double> warm, cold;
    for (Index k = 0; k < runs && !stopped(); ++k)
        warm.push_back(state_->timed(repetitions) / static_cast<double>(repetitions));
    const Eviction eviction;
    for (Index k = 0; k < runs && !stopped(); ++k) {
        eviction.enqueue(state_->stream);
        cold.push_back(state_->timed(1));
    }
    if (stopped()) throw Interrupted();
    return {reading_of(std::move(warm)).median, reading_of(std::move(cold)).median};
}

}  // namespace tilescope::device
