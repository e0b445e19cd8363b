// What is counted. Every number is a sum over the operations that ran, weighted by how many each one stands for.
#pragma once

#include <array>

#include "core/machine/units.hpp"

namespace tilescope {

struct Counters {
    Bytes hbm_read = 0, hbm_write = 0;  ///< bytes that cross an SM's boundary
    Bytes hbm_reduce = 0;               ///< bytes sent to be added to elements in HBM
    Bytes multicast = 0;                ///< of hbm_read, bytes that came with the request of another SM of the cluster
    Bytes sram_read = 0, sram_write = 0;          ///< bytes of operands and results in shared memory
    Bytes register_read = 0, register_write = 0;  ///< bytes of operands and results in registers
    Count matmul_flops = 0;                       ///< 2mnk per product
    Count exps = 0;                               ///< exponentials
    Count other_flops = 0;                        ///< every other floating-point operation
    Count launches = 0, thread_blocks = 0;

    struct Field {
        const char* name;
        Count Counters::*member;
    };
    static const std::array<Field, 13> fields;

    void add(const Counters& c, Count times) {
        hbm_read += times * c.hbm_read, hbm_write += times * c.hbm_write, hbm_reduce += times * c.hbm_reduce;
        multicast += times * c.multicast;
        sram_read += times * c.sram_read, sram_write += times * c.sram_write;
        register_read += times * c.register_read, register_write += times * c.register_write;
        matmul_flops += times * c.matmul_flops, exps += times * c.exps, other_flops += times * c.other_flops;
        launches += times * c.launches, thread_blocks += times * c.thread_blocks;
    }
    Counters& operator+=(const Counters& c) { return add(c, 1), *this; }
    friend Counters operator-(Counters a, const Counters& b) { return a.add(b, -1), a; }
    friend bool operator==(const Counters&, const Counters&) = default;

    /// hbm_sent: bytes that leave an SM. hbm: all bytes that cross an SM's boundary.
    Bytes hbm_sent() const { return hbm_write + hbm_reduce; }
    Bytes hbm() const { return hbm_read + hbm_sent(); }
    /// Bytes that the L2 sends: fewer than hbm_read where SMs of a cluster share what one of them asked for.
    Bytes l2_read() const { return hbm_read - multicast; }
    Count flops() const { return matmul_flops + exps + other_flops; }
};

inline constexpr std::array<Counters::Field, 13> Counters::fields{{{"hbm_read_bytes", &Counters::hbm_read},
                                                                   {"hbm_write_bytes", &Counters::hbm_write},
                                                                   {"hbm_reduce_bytes", &Counters::hbm_reduce},
                                                                   {"multicast_bytes", &Counters::multicast},
                                                                   {"sram_read_bytes", &Counters::sram_read},
                                                                   {"sram_write_bytes", &Counters::sram_write},
                                                                   {"register_read_bytes", &Counters::register_read},
                                                                   {"register_write_bytes", &Counters::register_write},
                                                                   {"matmul_flops", &Counters::matmul_flops},
                                                                   {"exps", &Counters::exps},
                                                                   {"other_flops", &Counters::other_flops},
                                                                   {"launches", &Counters::launches},
                                                                   {"thread_blocks", &Counters::thread_blocks}}};

/// Bytes one tensor moved between HBM and the SMs.
struct Traffic {
    Bytes read = 0, write = 0, reduce = 0;

    static Traffic of(const Counters& c) { return {c.hbm_read, c.hbm_write, c.hbm_reduce}; }
    Traffic times(Count n) const { return {n * read, n * write, n * reduce}; }
    Bytes sent() const { return write + reduce; }
    Traffic& operator+=(const Traffic& t) { return read += t.read, write += t.write, reduce += t.reduce, *this; }
    friend bool operator==(const Traffic&, const Traffic&) = default;
};

}  // namespace tilescope
