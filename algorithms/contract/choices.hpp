// What people call the choices that a problem makes.
#pragma once

#include <string>
#include <string_view>

#include "algorithms/contract/problem.hpp"

namespace tilescope {

/// What --scales and recordings say of scales: "none", "tensor", "head", "token" (blocks of one row), or the rows of a
/// block, "64". set_scales: whether the text says anything.
inline constexpr const char* scalings[] = {"head", "tensor", "none", "token"};
std::string name_of_scales(const Problem& problem);
bool set_scales(Problem& problem, std::string_view text);
/// What --accumulator and recordings say of sum_bits: "gpu", "f32" or bits. set_accumulator: whether the text says any.
std::string name_of_accumulator(const Problem& problem);
inline constexpr const char* accumulators[] = {"gpu", "f32"};
bool set_accumulator(Problem& problem, std::string_view text);
const char* name_of(Softmax softmax);
inline constexpr Corner corners[] = {Corner::bottom_right, Corner::top_left};
const char* name_of(Corner corner);
inline constexpr PageOrder page_orders[] = {PageOrder::identity, PageOrder::permuted};
const char* name_of(PageOrder order);

}  // namespace tilescope
