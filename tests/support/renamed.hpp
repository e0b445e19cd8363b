// Operations with other words: they do the same, but have different names and units.
#pragma once

#include <deque>
#include <map>
#include <string>

#include "core/machine/event.hpp"

namespace tilescope {

/// Passes all events on to another listener. Operations keep their effects, kinds and costs; their names and units are
/// replaced, and with the names the sentences, which go by an operation's name.
class Renamed : public Listener {
  public:
    explicit Renamed(Listener& to) : to_(to) {}

    Needs needs() const override { return to_.needs(); }
    bool wants(Index launch, Index block) override { return to_.wants(launch, block); }
    Index next_wanted(Index launch, Index from) override { return to_.next_wanted(launch, from); }
    void begin(const LaunchMark& m) override { to_.begin(m); }
    void end(const LaunchMark& m) override { to_.end(m); }
    void begin(const BlockMark& m) override { to_.begin(m); }
    void end(const BlockMark& m) override { to_.end(m); }
    void begin(const LoopMark& m) override { to_.begin(m); }
    void turn(const TurnMark& m) override { to_.turn(m); }
    void end(const LoopMark& m) override { to_.end(m); }
    void visit(const LineMark& m) override { to_.visit(m); }
    void on(const Event& event, TileData data) override {
        Event other = event;
        other.operation = renamed(event.operation);
        to_.on(other, data);
    }

  private:
    const Operation* renamed(const Operation* o) {
        auto& other = known_[o];
        if (other) return other;
        Operation& made = operations_.emplace_back(*o);
        made.name = word(), made.unit = *o->unit ? word() : "";
        return other = &made;
    }
    /// A word that no code knows: a number in letters from the end of the alphabet.
    const char* word() {
        std::string letters = "zq";
        for (std::size_t n = ++words_made_; n > 0; n /= 4) letters += "wxyz"[n % 4];
        return words_.emplace_back(letters).c_str();
    }

    Listener& to_;
    std::map<const Operation*, const Operation*> known_;
    std::deque<Operation> operations_;
    std::deque<std::string> words_;
    std::size_t words_made_ = 0;
};

}  // namespace tilescope
