"""Every text on the screen passes through gui/draw, which notes it for --log. Panels call nothing else that draws text,
and no hit area that Dear ImGui may find too small.

Usage: drawn_text.py SOURCE_DIR
"""
import pathlib
import re
import sys

# Functions of Dear ImGui 1.86 that draw a text, as their purpose or as a label.
RAW = re.compile(r"""\bAddText\s*\( | \bRenderText\w*\s*\( | \bImGui::(?:
    Text\w* | LabelText\w* | BulletText\w* | SeparatorText | (?:Small|Arrow|Tab|Color|Image|Invisible)?Button | Checkbox\w* |
    RadioButton | Selectable | (?:Begin)?(?:Combo|ListBox|Menu|MenuItem|TabItem|TabBar) | MenuItem | ListBox |
    Input\w+ | (?:V?Slider|Drag)\w+ | Color(?:Edit|Picker)\w* | CollapsingHeader | TreeNode\w* | TableHeader\w* |
    Plot\w+ | ProgressBar | Value | SetTooltip\w* | BeginTooltip | TextLink\w* )\s*\(""", re.VERBOSE)


def faults_of(path, text):
    for number, line in enumerate(text.splitlines(), 1):
        if found := RAW.search(line.split("//")[0]):
            yield f"{path}:{number} calls {found[0].rstrip('( ')}: use gui/draw/canvas.hpp or gui/draw/items.hpp"


def check_itself():
    """Planted calls are found, and calls that draw no text are not."""
    for planted in ("list.AddText(at, ink, s);", 'ImGui::Text("%d", n);', "ImGui::TextUnformatted(s);",
                    'if (ImGui::Button("Go")) go();', 'ImGui::SliderInt("##x", &x, 0, 1);', "ImGui::SetTooltip(s);",
                    "ImGui::BeginCombo(a, b)", "ImGui::Selectable(s)", "ImGui::SmallButton(s)", "ImGui::InvisibleButton(place, size);", "ImGui::MenuItem(s)"):
        assert list(faults_of("x.cpp", planted)), f"not found: {planted}"
    for harmless in ("hit_area(place, size);", "c.text(font, at, ink, s);", "// ImGui::Text() does"):
        assert not list(faults_of("x.cpp", harmless)), f"found: {harmless}"


def main():
    source = pathlib.Path(sys.argv[1])
    check_itself()
    files = [f for f in sorted((source / "gui").rglob("*.?pp")) if f.parent.name != "draw"]
    faults = [fault for f in files for fault in faults_of(f.relative_to(source), f.read_text())]
    print("\n".join(faults) or f"{len(files)} files of gui/ draw their texts through gui/draw")
    return 1 if faults or len(files) < 30 else 0


if __name__ == "__main__":
    sys.exit(main())
