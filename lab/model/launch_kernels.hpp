// What the kernel of each launch of a run is (its rows, warps and registers), and how many of its thread blocks an SM
// holds.
#pragma once

#include <cstddef>
#include <optional>
#include <vector>

#include "core/record/outline.hpp"
#include "core/time/kernel.hpp"
#include "lab/model/full_tiles.hpp"
#include "lab/model/registers.hpp"

namespace tilescope::lab {

/// The outline to time instead of the run's own, where the program overlaps a tile's products with those of the next
/// and its lanes are not timed: that of the same program with one product after the other. Else nullopt.
std::optional<Outline> outline_in_turn(const Experiment& experiment);

class LaunchKernels {
  public:
    /// `outline`: of the same run as `counted`, or outline_in_turn() of it. Both have to outlive this object.
    LaunchKernels(const Report& counted, const Outline& outline, RegistersFrom from = RegistersFrom::compiler);

    /// The kernel of the launches with products.
    const Kernel& with_products() const { return kernel_; }
    /// The tile of that kernel: kernel_tiles().
    const Tiling& tile() const { return full_.experiment.tiling; }
    /// The kernel of a launch. Without products, it has as many warps as the launch's tiles need.
    Kernel of(std::size_t launch) const;
    /// Rows (or keys) of a full thread block's tile on the grid's second axis; the full Br where it has only heads.
    Index full_rows(std::size_t launch) const;
    Occupancy occupancy(std::size_t launch) const;

  private:
    const LaunchOutline& launch(std::size_t k) const { return outline_.launches()[k]; }
    LaunchInfo held_on_chip(std::size_t k) const;
    Index rows_together(std::size_t k) const;
    HeldRows held_by_products() const;
    Registers registers(std::size_t k, Index warps, const HeldRows& held) const;
    Style style_of_launch(std::size_t k) const;
    Bytes staged(std::size_t k) const;

    const Report& counted_;
    const Experiment& e_;
    const Outline& outline_;
    const RegistersFrom registers_from_;
    const FullTiles full_;
    const Kernel kernel_;
};

/// A counted run, and the occupancy of its launches. Nothing is played, and the tensors need not fit in HBM.
struct Occupied {
    Report report;  ///< without time
    std::vector<Occupancy> launches;
};
Occupied count_and_occupy(const Experiment& experiment, Control* control = nullptr);

}  // namespace tilescope::lab
