// Exports views to files.
#include "show/files/export.hpp"

#include <sstream>

#include "core/machine/error.hpp"
#include "lab/figure/kinds.hpp"
#include "lab/system/child.hpp"
#include "show/stage/figures.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/folder.hpp"

using namespace tilescope;
using namespace tilescope::lab;
using namespace tilescope::show;
using namespace Catch::Matchers;

namespace {

struct Window {
    Session session;
    Explorer explorer;
    View view;
    explicit Window(Stage stage, const char* algorithm = "flash_v2") {
        Setup s;
        s.algorithm = algorithm;
        s.options.seq = 128, s.options.heads = 2, s.options.br = "32", s.options.bc = "48";
        view.stage = stage;
        session.ask(s);
        session.finish();
        explorer.finish(session, view);
    }
    /// The message at the end of the export.
    std::string export_to(const std::string& path) {
        Export e;
        e.begin(session, view, explorer, path);
        while (!e.pump()) wait_a_moment();
        const auto news = e.news();
        CHECK_FALSE(e.news());
        return news.value_or("");
    }
};

}  // namespace

TEST_CASE("a view's numbers are those of the figure, and where this run is", "[long][export]") {
    const Folder folder;
    for (const Stage stage : {Stage::tiles, Stage::roofline, Stage::io}) {
        Window w(stage);
        const std::string path = folder / "view.csv";
        CHECK(w.export_to(path) == path + " written");
        const std::string text = bytes_of(path);
        INFO(text);
        FigureRequest request = figure_request(w.session.setup(), w.session.request()->problem, stage);
        if (stage == Stage::tiles) {
            request.metric = "time_us";
            request.vary = {parse_axis("br=4:128:+4"), parse_axis("bc=4:128:+4")};
            CHECK_THAT(text, ContainsSubstring("this run: 32 x 48"));
        } else {
            CHECK_THAT(text, ContainsSubstring("this run"));
        }
        // All rows of `tilescope plot` are there, and the run's marks besides.
        std::istringstream lines(as_csv(figure_kind_of(stage).draw(request)));
        for (std::string line; std::getline(lines, line);) CHECK_THAT(text, ContainsSubstring(line));
        CHECK(figure_request(w.session.setup(), w.session.request()->problem, stage).options.br == "auto");
    }
}

TEST_CASE("a view becomes a picture with the command that draws it", "[export]") {
    if (!on_path("gnuplot")) return;  // scripts/test-packages installs it
    const Folder folder;
    Window w(Stage::tiles);
    w.view.metric = "hbm_bytes";
    const std::string path = folder / "it's mine.svg";
    CHECK(w.export_to(path) == path + " written");
    CHECK_THAT(bytes_of(path), ContainsSubstring("</svg>"));
    CHECK_THAT(bytes_of(path), ContainsSubstring("plot tiles flash_v2 --vary 'br=4:128:+4' --vary 'bc=4:128:+4'"));
}

TEST_CASE("what cannot be exported is said at once, and leaves files as they are", "[export]") {
    const Folder folder;
    Window w(Stage::roofline);
    Export e;
    const auto begin = [&](const std::string& path) { e.begin(w.session, w.view, w.explorer, path); };
    CHECK_THROWS_WITH(begin("roofline.gif"), ContainsSubstring("must end in .svg or .pdf or .png or .tex or .csv"));
    CHECK_THROWS_WITH(begin(folder / "no/such/x.csv"), ContainsSubstring("No such file or directory"));
    CHECK(folder.entries() == 0);
    w.view.stage = Stage::tiles;  // nothing has been computed for it yet
    CHECK_THROWS_WITH(begin(folder / "x.csv"), ContainsSubstring("nothing to export yet"));
    CHECK(e.pump());
    CHECK_FALSE(e.news());
    // An export that is given up leaves no file.
    w.view.stage = Stage::roofline;
    begin(folder / "x.csv");
    begin(folder / "y.csv");
    while (!e.pump()) wait_a_moment();
    CHECK_THAT(e.news().value_or(""), EndsWith("y.csv written"));
    CHECK(bytes_of(folder / "y.csv").size() > 100);
}

TEST_CASE("a figure of a view is of what people compare", "[export]") {
    const auto names = [](const char* algorithm, const char* rival, Stage stage) {
        Setup s;
        s.algorithm = algorithm, s.rival = rival;
        std::string all;
        for (const Variant& v : figure_request(s, Problem{}, stage).variants) all += v.label + ' ';
        return all;
    };
    CHECK(names("flash_v2", "", Stage::io) == "standard flash_v1 flash_v2 ");
    CHECK(names("two_pass", "chunked", Stage::roofline) == "standard flash_v1 flash_v2 two_pass chunked ");
    CHECK(names("two_pass", "chunked", Stage::tiles) == "two_pass ");
    CHECK(names("softmax_safe", "", Stage::io) == "softmax_safe ");
    CHECK(usual_file(Stage::io) == "io-vs-n.svg");
    CHECK(usual_file(Stage::tiles) == "tiles.svg");
}
