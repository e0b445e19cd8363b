#include "show/run/job.hpp"

#include <chrono>
#include <new>
#include <stdexcept>
#include <vector>

#include "show/run/reference_ahead.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/problems.hpp"

using namespace tilescope;
using namespace tilescope::lab;
using namespace tilescope::show;
using namespace Catch::Matchers;

namespace {

void nap() { std::this_thread::sleep_for(std::chrono::milliseconds(1)); }

/// A job of `units` units that counts those done.
struct Counting {
    explicit Counting(Index units) : job([this, units](Control&) { return units - ++done; }) {}

    std::atomic<Index> done{0};
    Job job;
};

/// Waits as a window would: frame after frame.
void pump_until_done(Job& job) {
    while (!job.pump(1)) nap();
}

}  // namespace

TEST_CASE("a slice is so many units and no more", "[job][threads]") {
    Counting c(10);
    CHECK(c.done == 0);  // no work was asked for yet
    CHECK_FALSE(c.job.pump(0));
    CHECK(c.done == 0);
    CHECK_FALSE(c.job.pump(3));
    CHECK(c.done == 3);
    CHECK_FALSE(c.job.pump(6));
    CHECK(c.done == 9);
    CHECK(c.job.pump(100));
    CHECK(c.done == 10);
    CHECK(c.job.pump(100));  // nothing is left to do
    c.job.finish();
    CHECK(c.done == 10);
}

TEST_CASE("progress is told in units, done and left", "[job][threads]") {
    std::size_t next = 0;
    Job job([&](Control&) { return std::vector<Index>{2, 7, 1, 0}.at(next++); });  // more is left than it seemed
    CHECK(job.progress().done == 0);
    CHECK(job.progress().left > 0);
    job.pump(1);
    CHECK((job.progress().done == 1 && job.progress().left == 2));
    job.pump(1);
    CHECK((job.progress().done == 2 && job.progress().left == 7));
    job.finish();
    CHECK((job.progress().done == 4 && job.progress().left == 0));
}

TEST_CASE("finish goes as far as is asked for", "[job][threads]") {
    Counting c(10);
    c.job.finish(4);
    CHECK(c.done == 4);
    c.job.finish(2);  // two are done already
    CHECK(c.done == 4);
    c.job.finish(1000);
    CHECK(c.done == 10);
}

TEST_CASE("a thread does it all by itself", "[job][threads]") {
    Counting c(100);
    c.job.begin();
    pump_until_done(c.job);
    CHECK(c.done == 100);
    CHECK(c.job.progress().left == 0);
    c.job.begin();  // the job is over already
    CHECK(c.job.pump(1));
    CHECK(c.done == 100);
}

TEST_CASE("pumping leaves to a thread what is the thread's", "[job][threads]") {
    const auto me = std::this_thread::get_id();
    std::atomic<bool> go{false}, mine{false};
    Index left = 5;
    Job job([&](Control&) {
        while (!go) nap();
        if (std::this_thread::get_id() == me) mine = true;
        return --left;
    });
    job.begin();
    for (int frame = 0; frame < 5; ++frame) CHECK_FALSE(job.pump(1));  // nor does pumping wait
    go = true;
    job.finish();
    CHECK_FALSE(mine);
    CHECK(job.progress().done == 5);
}

TEST_CASE("a job begun by frames is continued by a thread, and waited for", "[job][threads]") {
    Counting c(50);
    c.job.pump(7);
    c.job.begin();
    for (const Index units : {10, 20, 50}) {
        c.job.finish(units);
        CHECK(c.done >= units);
        CHECK(c.job.progress().done >= units);
    }
    CHECK(c.job.pump(0));
}

TEST_CASE("what is cancelled goes no further", "[job][threads]") {
    Counting c(10);
    c.job.pump(3);
    c.job.cancel();
    CHECK_THROWS_AS(c.job.pump(1), Interrupted);
    CHECK_THROWS_AS(c.job.finish(), Interrupted);
    CHECK_NOTHROW(c.job.finish(3));  // three units are done
    CHECK(c.done == 3);

    Counting whole(2);
    whole.job.finish();
    whole.job.cancel();  // too late
    CHECK(whole.job.pump(1));
}

TEST_CASE("a thread gives up between two units, and a long unit in its midst", "[job][threads]") {
    const bool long_unit = GENERATE(false, true);
    Job job([&](Control& control) -> Index {
        do {
            nap();
            if (control.stop && long_unit) throw Interrupted();
        } while (long_unit);
        return 1;  // there is always one more unit
    });
    job.begin();
    nap();
    CHECK_FALSE(job.pump(1));
    job.cancel();
    CHECK_THROWS_AS(job.finish(), Interrupted);
    CHECK_THROWS_AS(job.pump(1), Interrupted);
}

TEST_CASE("what a unit throws is delivered to the asker, again and again", "[job][threads]") {
    const bool by_thread = GENERATE(false, true);
    Index next = 0;
    Job job([&](Control&) -> Index {
        if (next == 3) throw std::bad_alloc();
        return 9 - next++;
    });
    if (by_thread) job.begin();
    CHECK_THROWS_AS(job.finish(), std::bad_alloc);
    CHECK_THROWS_AS(job.pump(1), std::bad_alloc);
    CHECK_THROWS_AS(job.finish(4), std::bad_alloc);
    CHECK_NOTHROW(job.finish(3));  // what was done before stays
    CHECK(job.progress().done == 3);
    CHECK(next == 3);  // the failed unit is not tried again
}

TEST_CASE("a job may go in the midst of its work", "[job][threads]") {
    const bool by_thread = GENERATE(false, true);
    std::atomic<int> inside{0}, done{0};
    {
        Job job([&](Control&) -> Index {
            ++inside;
            nap();
            --inside, ++done;
            return 1;
        });
        if (by_thread)
            job.begin();
        else
            job.pump(2);
        while (done < 2) nap();
    }
    CHECK(inside == 0);
    const int after = done;
    nap();
    CHECK(done == after);
    Counting untouched(5);
    CHECK(untouched.done == 0);
}

TEST_CASE("the reference ahead is the reference: by frames, by a thread, and at once", "[job][threads]") {
    for (const char* name : {"flash_v2", "softmax_safe"}) {
        const Algorithm& a = *find_algorithm(name);
        Case c;
        c.problem.seq_q = c.problem.seq_k = 150;  // three units per slice
        c.problem.dim = c.problem.dim_v = 8;
        c.problem.batch = 2, c.problem.heads = c.problem.kv_heads = 3;
        const Inputs in = inputs_for(a, c);
        const Index slices = c.problem.batch_heads();
        for (const std::string way : {"by frames", "by a thread", "at once"}) {
            INFO(name << ' ' << way);
            ReferenceAhead ahead(*a.computes, c.problem, in);
            if (way == "by a thread") ahead.job().begin();
            if (way == "by frames") CHECK_FALSE(ahead.job().pump(4));
            for (const Index slice : {Index{0}, slices - 1, Index{2}}) {
                const std::vector<double> expected = reference_rows(*a.computes, c.problem, in, slice, {0, 150});
                const auto first = ahead.slice(slice, 70).begin();
                CHECK(std::equal(first, first + static_cast<std::ptrdiff_t>(expected.size() / 150 * 70),
                                 expected.begin()));
                CHECK(ahead.slice(slice, 150) == expected);
            }
            CHECK(ahead.job().progress().done == 3 * slices);
        }
        ReferenceAhead not_needed(*a.computes, c.problem, in);
        not_needed.job().begin();
    }
}
