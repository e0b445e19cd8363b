// What is said about SMs, L2 and HBM.
#include "show/stage/machine_text.hpp"

#include "show/words/hbm_text.hpp"
#include "show/words/sm_text.hpp"
#include "tests/support/sessions.hpp"

using namespace tilescope;
using namespace tilescope::lab;
using namespace tilescope::show;

namespace {

std::string launch_line(Run& run, Index tick, bool over = false) {
    run.seek(tick);
    return launch_lines(run, busy_sms(work_of_sms(run, over)), over).front();
}

const RecordedTensor& tensor_named(const Run& run, const std::string& name) {
    for (const RecordedTensor& t : run.trace().tensors())
        if (t.name == name) return t;
    throw std::out_of_range(name);
}

}  // namespace

TEST_CASE("the map counts SMs that work, shown or not", "[machine text]") {
    WaitingSession session = session_of("flash_v2", half);
    Run& run = *session.run();
    CHECK(launch_line(run, 0) == "before the first launch · 132 SMs");
    // 8 heads of 8 row blocks. Half of them are recorded; as many SMs do the same for the other heads.
    CHECK(launch_line(run, 60) == "flash_v2 · 64 thread blocks · 64 of 132 SMs busy, 32 of them shown");
    const auto work = work_of_sms(run, false);
    CHECK(std::count(work.begin(), work.end(), Work::shown) == 32);
    CHECK(std::count(work.begin(), work.end(), Work::elsewhere) == 32);
    CHECK(launch_line(run, run.ticks(), true) == "flash_v2 · 64 thread blocks · finished");
    CHECK(launch_lines(run, 7, false).back() == "7 of 132 SMs busy");
    run.seek(60);
    CHECK(about_sm(run, 3, Work::shown).find("SM 3: thread block 3\n") == 0);
    CHECK(about_sm(run, 40, Work::elsewhere).find("SM 40: a thread block that is not shown\n") == 0);
    CHECK(about_sm(run, 131, Work::none).find("SM 131: idle\n") == 0);
}

TEST_CASE("SMs that are not shown do what those do that are, wherever they are", "[machine text]") {
    auto causal = half;
    causal.push_back({"causal", "true"});
    WaitingSession session = session_of("flash_v2", causal);
    Run& run = *session.run();
    for (Index tick = 2; tick < run.ticks() - 2; tick += 7) {
        INFO(tick);
        run.seek(tick);
        const auto work = work_of_sms(run, false);
        const auto blocks = std::count_if(run.moment().sms.begin(), run.moment().sms.end(),
                                          [](const SmState& s) { return s.block != nullptr; });
        CHECK(std::count(work.begin(), work.end(), Work::shown) == blocks);
        const Index heads = run.recorded().batch_heads();
        CHECK(std::count(work.begin(), work.end(), Work::elsewhere) * heads == blocks * (8 - heads));
    }
}

TEST_CASE("launches are numbered where there are several", "[machine text]") {
    WaitingSession session = session_of("standard", {{"seq", "256"}, {"heads", "1"}, {"br", "64"}, {"bc", "64"}});
    CHECK(launch_line(*session.run(), 4) == "scores (launch 1 of 3) · 16 thread blocks · 16 of 132 SMs busy");
}

TEST_CASE("a card says what an SM is at and what it holds", "[machine text]") {
    WaitingSession session = session_of("flash_v2", toy);
    Run& run = *session.run();
    run.seek(6);  // S = Q K^T
    const SmState& sm = run.moment().sms[1];
    CHECK(sm_name(sm) == "SM 1");
    CHECK(sm_block(sm) == "block 1");
    CHECK(sm_line(sm) == "line 8");
    CHECK(sm_block(SmState{}) == "idle");
    CHECK(sm_line(SmState{}).empty());
    CHECK(space_used(sm.sram_used, 2048) == "192 B of 2.00 KiB");
    CHECK(space_free(sm.sram_used, 2048) == "free 1.81 KiB");
    const Step* product = run.operation(sm);
    REQUIRE(product);
    const auto mark = [&](TileId id) { return part_mark(product, part_of(product, id)); };
    CHECK(mark(product->event.out) == "=");
    CHECK(mark(product->event.a()) == "a");
    CHECK(mark(product->event.b()) == "b");
    CHECK(mark(no_tile).empty());
    const TileState& q = sm.tiles.front();
    CHECK(about_tile(run, q.tile, q.written, Part::first) ==
          "Q: 4 × 4 f32, 64 B in SRAM\nwritten in tick 2 by load\noperand (a) of this tick");
}

TEST_CASE("the machine says who asks for what, and where it comes from", "[machine text]") {
    WaitingSession session = session_of("flash_v2", toy);
    Run& run = *session.run();
    L2Shown l2(run);
    const auto said = [&](Index tick) {
        run.seek(tick), l2.seek(tick);
        return plain(machine_headline(run, l2));
    };
    CHECK(said(0) == "Nothing has run yet: the tensors lie in HBM, L2 and SMs are empty.");
    CHECK(said(1) == "Kernel flash_v2 is launched, with nothing in L2, as profilers count.");
    CHECK(said(2) == "4 SMs load Q: 256 B, all of it from DRAM.");
    CHECK(said(4) == "4 SMs load K₁: 256 B, of which 64 B come from DRAM and the rest is found in L2.");
    CHECK(l2_answer(run, l2).front() == "this operation: 256 B asked for, 64 B from DRAM");
    CHECK(machine_reason(run, l2) ==
          "L2 answered 38% of what was read so far. All tensors of the run, 1.09 kB, are 27% of its size: what a "
          "launch has read once it finds there.");
    CHECK(said(6) == "4 SMs compute; nothing crosses their boundary.");
    CHECK(l2_answer(run, l2).front() == "nothing is asked of it");
    CHECK(said(50) == "4 SMs store O: 256 B, which L2 keeps for now.");
    CHECK(said(run.ticks()) ==
          "Done: 2.62 kB crossed the SMs' boundary, 768 B that of DRAM; 320 B that were stored "
          "stayed in L2 to the end of their launch.");
    CHECK(l2_pipe_text(run).front() == "L2 16.0 GB/s · 4.00 GB/s for each of 4 SMs");
    CHECK(dram_pipe_text(run).front() == "DRAM 4.00 GB/s");
}

TEST_CASE("without an L2 everything is DRAM's", "[machine text]") {
    Flags flags = toy;
    flags.push_back({"l2", "off"});
    WaitingSession session = session_of("flash_v2", flags);
    Run& run = *session.run();
    L2Shown l2(run);
    CHECK_FALSE(l2.exists());
    run.seek(run.ticks()), l2.seek(run.ticks());
    CHECK(l2.dram_read() == run.hbm_read(run.ticks()));
    CHECK(l2.dram_written() == run.hbm(run.ticks()) - run.hbm_read(run.ticks()));
}

TEST_CASE("HBM says what is used, and what beyond inputs and output", "[machine text]") {
    WaitingSession flash = session_of("flash_v2", half),
                   naive = session_of("softmax_naive", {{"gpu", "toy"}, {"seq", "16"}});
    CHECK(hbm_titles(*flash.run()).front() == "HBM 80.0 GiB · 2.11 MB used · of which 16.4 kB extra (LSE)");
    CHECK(hbm_titles(*flash.run()).back() == "HBM 2.11 MB");
    CHECK(hbm_titles(*naive.run()).size() == 1);
}

TEST_CASE("a tensor's label has its size, its shape, its role and whose slice it is", "[machine text]") {
    WaitingSession session = session_of("flash_v2", half);
    const Run& run = *session.run();
    const TensorShown k{tensor_named(run, "K"), 2, 8, 524288}, lse{tensor_named(run, "LSE"), 0, 1, 16384};
    CHECK(tensor_title(k) == "K  524 kB");
    CHECK(tensor_shape(k) == "512 × 64 f16");
    using Lines = std::vector<std::vector<std::string>>;
    CHECK(tensor_lines(k, computation::attention, true) ==
          Lines{{"512 × 64 f16"}, {"input · head 3 of 8", "head 3 of 8"}});
    CHECK(tensor_lines(k, computation::softmax, false) ==
          Lines{{"512×64"}, {"input · matrix 3 of 8", "matrix 3 of 8"}});
    CHECK(tensor_lines(lse, computation::attention, false) == Lines{{"512×1"}, {"output"}});
    CHECK(about_tensor(k) == "K  524 kB in HBM: 8 × 512 × 64 f16, input");
}

TEST_CASE("marks say how often a part was read, and what happened last", "[machine text]") {
    using Marks = std::vector<std::string>;
    CHECK(touch_marks({}) == Marks{""});
    CHECK(touch_marks({.loads = 8}) == Marks{"×8"});
    CHECK(touch_marks({.loads = 8, .read_now = true}) == Marks{"↑×8", "×8"});
    CHECK(touch_marks({.stores = 1, .written_now = true}) == Marks{"↓"});
    CHECK(counts_text(0, 0).empty());
    CHECK(counts_text(8, 8) == "×8");
    CHECK(counts_text(0, 8) == "up to ×8");
    WaitingSession session = session_of("flash_v2", half);
    const Run& run = *session.run();
    const RecordedTensor& k = tensor_named(run, "K");
    const auto second = std::find_if(k.regions.begin(), k.regions.end(),
                                     [](const Region& r) { return r.slice == 0 && r.rows.begin == 64; });
    REQUIRE(second != k.regions.end());
    CHECK(about_part(run, k, &*second, {.loads = 8}) == "K rows 64–127: 8.19 kB\nread 8×, written 0×");
    CHECK(about_part(run, k, nullptr, {.stores = 2}) == "tiles smaller than a dot, at most\nread 0×, written 2×");
}
