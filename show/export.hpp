// A view that is explored, as a picture or a table in a file: drawn beside the frames, as `tilescope plot` draws it.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "show/explorer.hpp"
#include "show/job.hpp"

namespace tilescope::show {

/// "tiles.svg": what the file of a view is called where nobody says otherwise.
std::string usual_file(Stage stage);
/// "Drawing tiles.svg".
std::string drawing_text(const std::string& path);

class Export {
  public:
    /// Begins; what was begun before, and is not done, is given up. Throws UsageError where there is nothing to draw or
    /// the path ends like no picture (.svg, .pdf, .png, .tex) and no table (.csv), RunError where the file cannot be
    /// written or there is no gnuplot.
    void begin(const Session& session, const View& view, const Explorer& explorer, const std::string& path);
    /// For every frame, as a Job's. True when nothing is left to do.
    bool pump(Index units = 1);
    /// What came of it, once: "tiles.svg written", or what went wrong.
    std::optional<std::string> news();

  private:
    std::string path_;
    std::unique_ptr<Job> job_;
    std::optional<std::string> news_;
};

}  // namespace tilescope::show
