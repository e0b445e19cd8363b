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
/// What the button does.
std::string about_export(Stage stage);
/// "wall.svg written".
std::string written_text(const std::string& path);
/// Throws UsageError where nothing runs, or not yet, so that there is no picture of it.
void check_can_export(const Session& session);
/// Throws UsageError where the stage cannot be written to a file of this name, RunError where it cannot be written
/// there, or needs a program that is not installed.
void check_stage_file(const Session& session, const std::string& path);
/// Throws RunError without the program that makes a PDF of an SVG.
void require_pdf_writer();
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
