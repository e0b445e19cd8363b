#include "device/measurements.hpp"

#include <cmath>
#include <set>
#include <sstream>

#include "algorithms/contract/roles.hpp"
#include "device/calibration.hpp"
#include "lab/gpu/gpu_presets.hpp"
#include "lab/model/basis.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/folder.hpp"

using namespace tilescope;
using namespace tilescope::lab;
using namespace tilescope::device;

namespace {

CaseResult result() {
    CaseResult r;
    r.tested.algorithm = find_algorithm("flash_v2");
    r.tested.variant = &kernels_of(*r.tested.algorithm)[0];
    Problem& p = r.tested.problem;
    p.batch = 2, p.heads = 8, p.kv_heads = 4, p.seq_q = 1000, p.seq_k = 4097, p.mask = Mask::causal();
    p.dtype = r.tested.variant->dtype, p.dim = r.tested.variant->dim, p.dim_v = r.tested.variant->dim_v;
    r.counted = count(experiment_of(r.tested, gpu_preset("H200")));
    return r;
}

MeasurementFile written(const std::vector<CaseResult>& results) {
    std::ostringstream out;
    write_measurements(out, {{"date", "2026-01-02 03:04:05 UTC"}, {"command", "tilescope validate: a, b"}}, results);
    auto file = read_measurements(out.str());
    REQUIRE(file);
    return std::move(*file);
}

/// How close a measured number has to be to a simulated one, as a share of the simulated one.
struct Bound {
    const char* simulated;
    const char* measured;
    double within;
};
constexpr Bound bounds[] = {
    {"simulated_read_bytes", "measured_read_bytes", 0.005},
    {"simulated_write_bytes", "measured_write_bytes", 0.01},
    {"simulated_exps", "measured_xu_ops", 0.05},
    {"simulated_matmul_flops", "measured_ffma_flops", 0.02},
};

/// The factor by which the work grows because whole warps compute the last row block: see docs/validation.md, "ragged
/// tiles".
double by_whole_warps(const KernelCase& c) {
    const Problem& p = c.problem;
    const Index owned = p.dtype == Dtype::f32 ? 16 : 32;
    const auto rows = static_cast<double>(p.seq_q), keys = static_cast<double>(p.seq_k),
               more = static_cast<double>(ceil_div(p.seq_q, owned) * owned - p.seq_q);
    const double pairs = p.mask.is_causal() ? rows * keys - rows * rows / 2 : rows * keys;
    return 1 + more * keys / pairs;
}

/// Bytes written where the LSE of a head does not fill a sector: whole sectors are written.
double in_sectors(const KernelCase& c, double written) {
    const Problem& p = c.problem;
    const Index heads = p.batch_heads(), sector = 32, lse = p.seq_q * size_of(Dtype::f32);
    const auto o = static_cast<double>(heads * p.seq_q * p.dim_v * size_of(p.dtype));
    const bool has_lse = written == o + static_cast<double>(heads * lse);
    return has_lse && lse < sector ? o + static_cast<double>(heads * sector) : written;
}

void check_agreement(const MeasuredRow& row, const KernelCase& c) {
    for (const Bound& b : bounds) {
        // Parts and their second launch add much: tests/device/causes_test.cpp checks it to the byte.
        if (c.splits > 0 && std::string_view(b.measured) != "measured_read_bytes") continue;
        // Kernels of whole tiles load and compute more: tests/device/causes_test.cpp checks that to the byte, too.
        if (c.variant->hopper && std::string_view(b.measured) != "measured_write_bytes") continue;
        // Products on tensor cores are no FMA instructions.
        if (c.problem.dtype != Dtype::f32 && std::string_view(b.measured) == "measured_ffma_flops") continue;
        const auto simulated = row.number(b.simulated), measured = row.number(b.measured);
        if (!simulated || !measured || *simulated == 0) continue;
        INFO(b.measured << ' ' << *measured << ", " << b.simulated << ' ' << *simulated);
        const bool computed = !std::string_view(b.simulated).ends_with("bytes");
        const double more = by_whole_warps(c), counts = computed && more > 1.02 ? more : 1;
        const bool writes = std::string_view(b.measured) == "measured_write_bytes";
        const double expected = writes ? in_sectors(c, *simulated) : *simulated * counts;
        CHECK(std::abs(*measured / expected - 1) <= b.within);
    }
}

}  // namespace

TEST_CASE("measurements: what is written is read back", "[measurements]") {
    CaseResult r = result();
    r.deviations.emplace();
    r.deviations->heads_checked = 3;
    r.deviations->kernel = {.max_abs = 1.25e-7, .elements = 2, .compared = 2};
    r.deviations->simulator = {.elements = 2, .compared = 1, .not_finite = 1};
    r.times = KernelTimes{2, 3};
    r.measured.emplace();
    r.measured->read_bytes = 2164260864.0;
    r.measured->microseconds = 12.5;
    const MeasurementFile file = written({r, result()});
    REQUIRE(file.provenance.size() == 2);
    CHECK(file.provenance[1].first == "command");
    CHECK(file.provenance[1].second == "tilescope validate: a, b");
    REQUIRE(file.rows.size() == 2);
    const MeasuredRow &full = file.rows[0], &bare = file.rows[1];
    CHECK(full["algorithm"] == "flash_v2");
    CHECK(full["status"] == "ok");
    CHECK(full.integer("simulated_read_bytes") == r.counted.counters.hbm_read);
    CHECK(full.integer("measured_read_bytes") == 2164260864);
    CHECK(full.number("kernel_max_error") == 1.25e-7);
    CHECK(full["simulator_max_error"] == "nan");
    CHECK(full["measured_write_bytes"].empty());
    CHECK(full.number("ncu_us") == 12.5);
    CHECK(std::abs(*full.number("tflops") - static_cast<double>(r.counted.counters.matmul_flops) / 2e9) < 1e-3);
    CHECK(full["no such column"].empty());
    for (const char* column :
         {"heads_checked", "kernel_max_error", "warm_ms", "tflops", "measured_read_bytes", "waves"})
        CHECK(bare[column].empty());
    CHECK_THROWS_AS(bare.integer("warm_ms"), RunError);
}

TEST_CASE("measurements: a row leads back to its case", "[measurements]") {
    const CaseResult r = result();
    const KernelCase c = case_of(written({r}).rows[0]);
    CHECK(c.algorithm == r.tested.algorithm);
    CHECK(c.variant == r.tested.variant);
    CHECK(c.problem == r.tested.problem);
}

TEST_CASE("measurements: a row of an algorithm that cuts keys leads back to as many parts", "[measurements]") {
    CaseResult r = result();
    r.tested.algorithm = find_algorithm("split_kv");
    r.tested.variant = &kernels_of(*r.tested.algorithm)[0];
    r.tested.splits = 7;
    Problem& p = r.tested.problem;
    p.dtype = r.tested.variant->dtype, p.dim = r.tested.variant->dim, p.dim_v = r.tested.variant->dim_v;
    const KernelCase c = case_of(written({r}).rows[0]);
    CHECK(c.variant == r.tested.variant);
    CHECK(c.splits == 7);
    CHECK(contains(command_of(c), "--splits 7"));
    CHECK(experiment_of(c, gpu_preset("H200")).tiling.splits == 7);
    CHECK(c.problem.packed == 1);
    CHECK(contains(command_of(c), "--pack off"));
    KernelCase one = c;
    one.splits = 1;
    CHECK(device_bytes(c) > device_bytes(one) + 6 * p.batch_heads() * p.seq_q * p.dim_v * size_of(Dtype::f32));
    const auto with = [](const char* splits) {
        return std::string("algorithm,dtype,batch,heads,kv_heads,seq_q,seq_k,dim,dim_v,causal,br,bc,splits,status,") +
               "simulated_read_bytes\nsplit_kv,f32,1,1,1,64,64,64,64,0,64,64," + splits + ",ok,1\n";
    };
    CHECK(case_of(read_measurements(with("1024"))->rows[0]).splits == 1024);
    for (const char* wrong : {"", "1025", "-1"})
        CHECK_THROWS_AS(case_of(read_measurements(with(wrong))->rows[0]), RunError);
}

TEST_CASE("measurements: a row of packed heads has users' sizes, and leads back to them packed", "[measurements]") {
    CaseResult r = result();
    r.tested.algorithm = find_algorithm("split_kv");
    r.tested.variant = &kernels_of(*r.tested.algorithm)[0];
    r.tested.splits = 3;
    Problem& p = r.tested.problem;
    p.dtype = r.tested.variant->dtype, p.dim = r.tested.variant->dim, p.dim_v = r.tested.variant->dim_v;
    p.heads = 4, p.kv_heads = 4, p.seq_q = 2, p.packed = 2;
    const MeasurementFile file = written({r});
    CHECK(file.rows[0].integer("heads") == 8);
    CHECK(file.rows[0].integer("kv_heads") == 4);
    CHECK(file.rows[0].integer("seq_q") == 1);
    CHECK(file.rows[0].integer("packed") == 2);
    const KernelCase c = case_of(file.rows[0]);
    CHECK(c.problem == p);
    CHECK(contains(command_of(c), "--heads 8 --kv-heads 4 --seq-q 1 "));
    CHECK(contains(command_of(c), "--pack on"));
    const std::string columns =
        "algorithm,dtype,batch,heads,kv_heads,seq_q,seq_k,dim,dim_v,causal,options,br,bc,splits,packed,status,"
        "simulated_read_bytes\n";
    const auto refusal = [&](const char* row) {
        const auto wrong = read_measurements(columns + row);
        return message_of<RunError>([&] { case_of(wrong->rows[0]); });
    };
    CHECK(contains(refusal("split_kv,f32,1,8,4,1,64,64,64,0,,64,64,2,3,ok,1\n"), "packed must be 1 or 2"));
    CHECK(contains(refusal("flash_v2,f32,1,8,8,64,64,64,64,0,--window-left 4,64,64,,1,ok,1\n"),
                   "options must be empty, is --window-left 4"));
}

TEST_CASE("measurements: a row of a kernel whose warps have roles leads back to these roles", "[measurements]") {
    const Algorithm& a = *find_algorithm("flash_v3");
    std::vector<CaseResult> results;
    for (const KernelVariant& v : kernels_of(a)) {
        CaseResult& r = results.emplace_back(result());
        r.tested.algorithm = &a, r.tested.variant = &v;
        Problem& p = r.tested.problem;
        p.dtype = v.dtype, p.dim = v.dim, p.dim_v = v.dim_v;
    }
    const MeasurementFile file = written(results);
    REQUIRE(file.rows.size() == kernels_of(a).size());
    for (std::size_t k = 0; k < results.size(); ++k) {
        CAPTURE(k, command_of(results[k].tested));
        CHECK(case_of(file.rows[k]).variant == results[k].tested.variant);
        CHECK(file.rows[k]["turns"] == (results[k].tested.variant->tile.turns == on ? "on" : "off"));
    }
    CHECK(file.rows[0]["warpgroups"] == "3");
    CHECK(file.rows[0]["persistent"] == "paired");
    CHECK(written({result()}).rows[0]["turns"].empty());
    // Without columns of roles the first kernel with these tiles is meant.
    const auto old = read_measurements(
        "algorithm,dtype,batch,heads,kv_heads,seq_q,seq_k,dim,dim_v,causal,br,bc,status,simulated_read_bytes\n"
        "flash_v3,f16,1,1,1,64,64,128,128,0,128,128,ok,1\n");
    CHECK(other_roles(a, *case_of(old->rows[0]).variant).empty());
}

TEST_CASE("measurements: words say in which roles a kernel is not the usual one", "[measurements]") {
    const Algorithm& a = *find_algorithm("flash_v3");
    std::set<std::string> all;
    for (const KernelVariant& v : kernels_of(a)) all.insert(other_roles(a, v));
    CHECK(all == std::set<std::string>{"", "turns off", "overlap off", "turns off, overlap off", "slots 6",
                                       "persistent off", "cluster 2", "turns off, specialised off"});
}

TEST_CASE("measurements: a row measured under a former name is today's algorithm's", "[measurements]") {
    const auto old = read_measurements(
        "algorithm,dtype,batch,heads,kv_heads,seq_q,seq_k,dim,dim_v,causal,br,bc,status,simulated_read_bytes\n"
        "safe_softmax,f32,1,1,1,64,64,64,64,0,64,64,ok,1\n"
        "online_softmax,f32,1,1,1,64,64,64,64,0,64,64,ok,1\n");
    REQUIRE(old);
    CHECK(old->rows[0]["algorithm"] == "three_pass");
    CHECK(case_of(old->rows[0]).algorithm == find_algorithm("three_pass"));
    CHECK(case_of(old->rows[1]).algorithm == find_algorithm("two_pass"));
}

TEST_CASE("measurements: columns are the documented ones", "[measurements]") {
    std::string names;
    for (const auto& [column, cell] : cells_of(result())) names += (names.empty() ? "" : ",") + column;
    CHECK(names ==
          "algorithm,dtype,batch,heads,kv_heads,seq_q,seq_k,dim,dim_v,causal,options,br,bc,splits,packed,slots,"
          "warpgroups,turns,overlap,specialised,cluster,persistent,status,heads_checked,rows_checked,output,largest_"
          "reference,kernel_max_error,kernel_rms_error,simulator_max_error,"
          "simulator_rms_error,kernel_simulator_max_difference,warm_ms,cold_ms,tflops,gbs,simulated_read_bytes,"
          "measured_read_bytes,"
          "simulated_write_bytes,measured_write_bytes,simulated_reduce_bytes,measured_reduce_bytes,dram_read_bytes,"
          "dram_write_bytes,simulated_exps,measured_xu_ops,"
          "simulated_matmul_flops,measured_ffma_flops,shared_wavefronts,shared_conflicts,ncu_us,blocks_per_sm,waves");
}

TEST_CASE("measurements: other files are told apart", "[measurements]") {
    CHECK(!read_measurements(""));
    CHECK(!read_measurements("# date: today\ndtype,seq,dim\nf32,4096,64\n"));
    const auto unknown = read_measurements("algorithm,dtype,status,simulated_read_bytes\nflash_v9,f32,ok,1\n");
    REQUIRE(unknown);
    CHECK_THROWS_AS(case_of(unknown->rows[0]), RunError);
}

TEST_CASE("measurements: lines may end as a spreadsheet ends them, and what is no number is quoted", "[measurements]") {
    const auto file =
        read_measurements("algorithm,status,simulated_read_bytes\r\nflash_v2,ok,12\r\nflash_v2,ok,\x1b[m\r\n");
    REQUIRE(file);
    CHECK(file->columns->back() == "simulated_read_bytes");
    CHECK(file->rows[0].integer("simulated_read_bytes") == 12);
    CHECK(!contains(message_of<RunError>([&] { file->rows[1].integer("simulated_read_bytes"); }), "\x1b"));
}

TEST_CASE("measurements: those that ship agree with today's simulator", "[measurements][shipped]") {
    const auto files = shipped_measurements();
    if (files.empty()) WARN("docs/measured/h200 holds no measurements: nothing was compared");
    const GpuSpec gpu = gpu_preset("H200");
    for (const MeasurementFile& f : files)
        for (const MeasuredRow& row : f.rows) {
            if (row["status"] == "two launches") continue;  // one part: the kernel still combined it then
            const KernelCase c = case_of(row);
            INFO(command_of(c));
            const Counters now = count(experiment_of(c, gpu)).counters;
            CHECK(row.integer("simulated_read_bytes") == now.hbm_read);
            CHECK(row.integer("simulated_write_bytes") == now.hbm_write);
            CHECK(row.integer("simulated_exps") == now.exps);
            CHECK(row.integer("simulated_matmul_flops") == now.matmul_flops);
            CHECK(row["status"] != "wrong");
            check_agreement(row, c);
        }
}

TEST_CASE("measurements: backward passes move what they are counted to move", "[measurements][shipped]") {
    const GpuSpec gpu = gpu_preset("H200");
    const auto files = shipped_backward();
    REQUIRE(files.size() == 2);
    REQUIRE(files[0].rows.size() == 171);
    REQUIRE(files[1].rows.size() == 31);
    std::vector<MeasuredRow> rows = files[0].rows;
    rows.insert(rows.end(), files[1].rows.begin(), files[1].rows.end());
    for (const MeasuredRow& row : rows) {
        const KernelCase c = case_of(row);
        INFO(command_of(c));
        CHECK(row["status"] == "ok");
        const Counters now = count(experiment_of(c, gpu)).counters;
        CHECK(row.integer("simulated_exps") == now.exps);
        CHECK(row.integer("simulated_matmul_flops") == now.matmul_flops);
        const auto close = [&](const char* column, Bytes counted, double within) {
            INFO(column);
            CHECK(std::abs(*row.number(column) - static_cast<double>(counted)) <=
                  within * static_cast<double>(counted));
        };
        close("measured_read_bytes", now.hbm_read, 0.005);
        // Rows of 500 scores end within a sector of 32 bytes.
        close("measured_write_bytes", now.hbm_write, row.integer("seq_k") == 500 ? 0.008 : 0.005);
        close("measured_reduce_bytes", now.hbm_reduce, 0);
    }
}

TEST_CASE("measurements: what the library took is read as rows of flash_v2", "[measurements]") {
    const auto file = read_library(
        "# scripts/library H200 FOLDER; NVIDIA H200, PyTorch 2.11.0+cu130, 2026-11-22; median of 31 calls after 5\n"
        "gpu,half,dtype,batch,heads,seq_q,seq_k,dim,causal,us\nH200,one,bf16,2,16,2048,512,64,True,82.62\n");
    REQUIRE(file);
    CHECK(file->provenance ==
          Provenance{{"date", "2026-11-22"}, {"device", "NVIDIA H200"}, {"library", "PyTorch 2.11.0+cu130"}});
    REQUIRE(file->rows.size() == 1);
    const Problem p = problem_of(file->rows[0]);
    CHECK((p.dtype == Dtype::bf16 && p.batch == 2 && p.heads == 16 && p.kv_heads == 16));
    CHECK((p.seq_q == 2048 && p.seq_k == 512 && p.dim == 64 && p.dim_v == 64 && p.mask.is_causal()));
    CHECK(file->rows[0].number("us") == 82.62);
    CHECK_FALSE(read_library("# date: today\nalgorithm,status\nflash_v2,ok\n"));
}

TEST_CASE("measurements: those of each machine are named by its preset", "[measurements][shipped]") {
    for (const ShippedOn& m : shipped_by_machine()) {
        CHECK(gpu_preset(m.gpu).name == m.gpu);
        for (const auto* files : {&m.own, &m.library})
            for (const MeasurementFile& f : *files) {
                CHECK(std::ranges::any_of(f.provenance, [](const auto& p) { return p.first == "device"; }));
                for (const MeasuredRow& row : f.rows) CHECK_NOTHROW(problem_of(row));
            }
    }
}

TEST_CASE("errors are stated of the devices whose measurements ship, and of no other", "[measurements]") {
    std::set<std::string> shipped;
    for (const auto& files : {embedded_h200(), embedded_h100(), embedded_backward()})
        for (const EmbeddedFile& f : files)
            if (const auto file = read_measurements(f.text))
                for (const auto& [key, value] : file->provenance)
                    if (Device d; key == "device")
                        d.name = value, d.sms = 132, d.compute_capability = "9.0", shipped.insert(preset_of(d));
    CHECK(shipped.size() == 2);
    for (const std::string& name : gpu_preset_names()) {
        CAPTURE(name);
        CHECK(was_measured(gpu_preset(name)) == shipped.contains(name));
    }
}
