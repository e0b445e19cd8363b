#include "core/machine/parallel.hpp"

#include <atomic>
#include <chrono>
#include <new>
#include <set>
#include <stdexcept>
#include <vector>

#include "core/machine/error.hpp"
#include "tests/support/catch.hpp"

using namespace tilescope;
using namespace Catch::Matchers;

TEST_CASE("every number is worked on once, whatever the threads", "[parallel][threads]") {
    for (const int threads : {0, 1, 2, 3, 16})
        for (const Index n : {0, 1, 2, 5, 1000}) {
            INFO(threads << " threads, " << n);
            std::vector<std::atomic<int>> calls(static_cast<std::size_t>(n));
            const Index workers = std::min<Index>(threads > 0 ? threads : cores(), n);
            std::atomic<int> strangers{0};
            at_once(n, threads, [&](Index worker, Index k) {
                if (worker < 0 || worker >= workers) ++strangers;
                ++calls[static_cast<std::size_t>(k)];
            });
            CHECK(strangers == 0);
            for (const auto& c : calls) CHECK(c == 1);
        }
}

TEST_CASE("a worker has one call at a time, and can keep things of its own", "[parallel][threads]") {
    constexpr Index n = 20'000, workers = 4;
    std::vector<Index> sums(workers);  // no lock: ThreadSanitizer would report a race
    at_once(n, workers, [&](Index worker, Index k) { sums[static_cast<std::size_t>(worker)] += k; });
    Index sum = 0;
    for (const Index s : sums) sum += s;
    CHECK(sum == n * (n - 1) / 2);
}

TEST_CASE("one worker is the caller and goes in order", "[parallel][threads]") {
    std::vector<Index> order;
    std::set<std::thread::id> ids;
    at_once(5, 1, [&](Index, Index k) {
        order.push_back(k);
        ids.insert(std::this_thread::get_id());
    });
    CHECK((order == std::vector<Index>{0, 1, 2, 3, 4}));
    CHECK((ids == std::set{std::this_thread::get_id()}));
}

TEST_CASE("several workers are at it at the same time", "[parallel][threads]") {
    // Each call waits for the other: a single thread would wait for ever.
    std::atomic<int> here{0};
    at_once(2, 2, [&](Index, Index) {
        ++here;
        while (here < 2) std::this_thread::yield();
    });
    CHECK(here == 2);
}

TEST_CASE("what a worker throws ends it and reaches the caller", "[parallel][threads]") {
    for (const int threads : {1, 2, 8}) {
        INFO(threads << " threads");
        std::atomic<int> running{0}, calls{0};
        const auto run = [&](auto fail) {
            calls = 0;
            at_once(10'000, threads, [&](Index, Index k) {
                ++running, ++calls;
                if (k == 20) --running, fail();
                if (k > 20) std::this_thread::sleep_for(std::chrono::milliseconds(1));
                --running;
            });
        };
        CHECK_THROWS_WITH(run([] { throw std::runtime_error("number 20"); }), "number 20");
        CHECK(running == 0);
        CHECK(calls >= 21);
        CHECK(calls < 5000);  // the other workers do not go on to the end
        CHECK_THROWS_AS(run([] { throw std::bad_alloc(); }), std::bad_alloc);
        CHECK_THROWS_AS(run([] { throw Interrupted(); }), Interrupted);
        CHECK_THROWS_AS(run([] { throw 7; }), int);
        CHECK(running == 0);
    }
}

TEST_CASE("when all fail, one exception is kept", "[parallel][threads]") {
    CHECK_THROWS_AS(at_once(64, 8, [](Index, Index k) { throw std::out_of_range(std::to_string(k)); }),
                    std::out_of_range);
}

TEST_CASE("a result that cannot be taken is not taken again, nor is any after it", "[parallel][threads]") {
    for (const int threads : {1, 2, 8})
        for (int round = 0; round < 200; ++round) {
            std::vector<Index> taken;
            CHECK_THROWS_WITH(in_order(100, threads,
                                       [&](Index, Index k) {
                                           return [&taken, k] {
                                               taken.push_back(k);
                                               if (k >= 1) throw std::runtime_error("taken: " + std::to_string(k));
                                           };
                                       }),
                              "taken: 1");
            CHECK((taken == std::vector<Index>{0, 1}));
        }
}

TEST_CASE("there is at least one core", "[parallel][threads]") { CHECK(cores() >= 1); }

TEST_CASE("a background thread works beside the caller, and is over with its scope", "[parallel][threads]") {
    std::atomic<bool> go{false}, done{false};
    {
        const BackgroundThread thread([&] {
            while (!go) std::this_thread::yield();
            done = true;
        });
        REQUIRE(thread.started());
        CHECK_FALSE(done);
        go = true;
    }
    CHECK(done);
}
