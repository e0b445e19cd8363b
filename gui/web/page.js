// What a page does for the window on its canvas: events in, and out the address, files, the clipboard and what a page
// around this one is told. The other half is main.cpp.
"use strict";

const canvas = document.getElementById("canvas");
const mac = /Mac|iPhone|iPad/.test(navigator.platform);
let running = false;  // once the program has begun

function element(id) { return document.getElementById(id); }

// ---- In words

const texts = {};  // by id: site.py puts those of texts/en/page.txt here

function message(id, ...values) { return texts[id].replace(/\{(\d)\}/g, (_, n) => values[n - 1]); }

for (const said of document.querySelectorAll("[data-text]")) said.textContent = message(said.dataset.text);
for (const named of document.querySelectorAll("[data-label]")) named.setAttribute("aria-label", message(named.dataset.label));

function sayProblem(text) {
  const bar = element("problem");
  bar.hidden = !text;
  bar.querySelector("span").textContent = text = text.replace(/\/dropped\/\d+\//g, "");
  shown.problem = text;
  news = true;
  wake();  // the canvas has another height
}

// Where the page cannot run: one sentence, and a picture of what would be there.
function giveUp(why) {
  running = false;
  element("loading").hidden = false;
  element("bar").hidden = true;
  element("doing").textContent = message("page.cannot_be_shown", why);
  const still = new Image();
  still.alt = message("page.window_of_program");
  still.onload = () => element("loading").append(still);
  still.src = "window.png";
}

// ---- Frames: drawn while something moves, and for a moment after something happened

let wanted = false;

function draw() {
  wanted = false;
  if (!running) return;
  if (call("frame")) wake();
  handOver();
  if (news) tellParent();
  Module.frames = (Module.frames || 0) + 1;
}

function wake() {
  if (wanted || !running) return;
  wanted = true;
  requestAnimationFrame(draw);
}

// Calls tilescope_NAME of main.cpp. Exceptions end the program: what is shown can be had again by its address.
function call(name, ...values) {
  if (!running) return 0;
  try {
    const types = values.map(v => typeof v == "string" ? "string" : "number");
    return Module.ccall("tilescope_" + name, "number", types, values);
  } catch (error) {
    giveUp(message("page.ended", error));
    throw error;
  }
}

function tellProgram(name, ...values) {
  call(name, ...values);
  wake();
}

// ---- What the program says

const said = {
  problem: sayProblem,
  address: fragment => {
    written = "#" + fragment;
    try { history.replaceState(null, "", written); } catch { /* too often, or a page that has no address */ }
    shown.address = location.href.split("#")[0] + written;
    news = true;
  },
  copied: text => {
    const gone = () => sayProblem(message("page.copy_it_here", text));
    if (navigator.clipboard) navigator.clipboard.writeText(text).catch(() => copyOldWay(text) || gone());
    else if (!copyOldWay(text)) gone();
  },
  typing: text => keyboard.begin(text),
  typed: () => { element("typing").hidden = true; },
  cursor: shape => { canvas.style.cursor = shape; },
  choose: () => element("file").click(),
  film: path => film.begin(path),
  filmed: keep => film.end(keep),
  picture: name => canvas.toBlob(blob => save(blob, name)),  // of the frame that is drawn just now
  fullscreen: on => on == "on" ? document.documentElement.requestFullscreen?.().catch(() => tellProgram("full_screen", 0))
                               : document.fullscreenElement && document.exitFullscreen(),
  shown: json => {
    const now = JSON.parse(json);
    if (now.said) element("said").textContent = now.said;
    Object.assign(shown, now);
    news = true;
  },
  log: line => { Module.status = line; },
};
const shown = { problem: "" };
let news = false;  // that the page around this one was not told yet
let written = null;  // the fragment that the program itself put into the address

function copyOldWay(text) {
  const field = document.createElement("textarea");
  field.value = text;
  document.body.append(field);
  field.select();
  const done = document.execCommand("copy");
  field.remove();
  canvas.focus();
  return done;
}

// What the program wrote into this folder is a download, once it is whole.
function handOver() {
  const types = { json: "application/json", svg: "image/svg+xml", csv: "text/csv", png: "image/png" };
  for (const name of Module.FS.readdir("/downloads")) {
    if (name.startsWith(".") || name.includes(".tmp-")) continue;
    const path = "/downloads/" + name;
    save(new Blob([Module.FS.readFile(path)], { type: types[name.split(".").pop()] || "application/octet-stream" }), name);
    Module.FS.unlink(path);
  }
}

// The browser records what is on the canvas.
const film = {
  recorder: null,
  begin(path) {
    const name = path.split("/").pop(), type = "video/" + name.split(".").pop().toLowerCase();
    if (!window.MediaRecorder || !canvas.captureStream || !MediaRecorder.isTypeSupported(type)) {
      sayProblem(message("page.records_no", type.split("/")[1]));
      setTimeout(() => tellProgram("do", "unfilm", 0));
      return;
    }
    const pieces = [];
    this.recorder = new MediaRecorder(canvas.captureStream(), { mimeType: type, videoBitsPerSecond: 8e6 });
    this.recorder.ondataavailable = e => pieces.push(e.data);
    this.recorder.onstop = () => { if (this.keep) save(new Blob(pieces, { type }), name); };
    this.recorder.start();
  },
  end(keep) {
    this.keep = keep;
    this.recorder?.stop();
    this.recorder = null;
  },
};

function save(blob, name) {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(blob);
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 60000);
}

// ---- A page around this one (docs/embed.md)

function tellParent() {
  if (parent === window || shown.step === undefined) return;
  news = false;
  const { step, of, playing, settled, said, problem, address } = shown;
  parent.postMessage({ tilescope: "state", step, of, playing, settled, said, problem, address }, "*");
}

// What may be asked for: how, or what is wrong with the value that came along.
const asks = {
  open: value => typeof value == "string" ? tellProgram("open", value.replace(/^[^#]*#/, "")) : message("page.must_be_address"),
  scene: value => typeof value == "string" ? tellProgram("open_scene", value) : message("page.must_be_scene"),
  state: () => tellParent(),
  step: (value = 1) => Math.abs(value) === 1 ? tellProgram("do", "step", value) : message("page.must_be_forward_or_back"),
  seek: value => Number.isInteger(value) ? tellProgram("do", "seek", value) : message("page.must_be_step"),
  play: () => tellProgram("do", "play", 1),
  pause: () => tellProgram("do", "pause", 1),
  reveal: (value = 1) => value == 1 || value == 0 ? tellProgram("do", "reveal", +value) : message("page.must_be_0_or_1"),
};

window.addEventListener("message", event => {
  const asked = event.data;
  if (event.source !== parent || parent === window || !asked || typeof asked.tilescope != "string") return;
  const what = asked.tilescope, value = asked.value ?? undefined;
  if (!Object.hasOwn(asks, what)) return sayProblem(message("page.no_such_request", what, Object.keys(asks).join(", ")));
  if (what != "state" && shown.problem) sayProblem("");
  const wrong = asks[what](value);
  if (wrong) sayProblem(message("page.wrong_value", what, wrong, JSON.stringify(value)));
});

// ---- Keys

const modifiers = e => (e.shiftKey ? 1 : 0) | (e.ctrlKey && !e.getModifierState("AltGraph") ? 2 : 0) |
                       (e.altKey && !e.getModifierState("AltGraph") ? 4 : 0) | (e.metaKey ? 8 : 0);
const kept = new Set(["Tab", " ", "Backspace", "ArrowLeft", "ArrowRight", "ArrowUp", "ArrowDown", "Home", "End", "PageUp",
                      "PageDown", "'", "/"]);  // from the browser

function key(down, e) {
  if (e.isComposing || e.target === element("file") || e.target === keyboard.field) return;
  const held = modifiers(e), commands = held & (2 | 8);
  const character = !commands && [...e.key].length == 1 ? e.key.codePointAt(0) : 0;
  tellProgram("key", down, e.key, e.code, character, held);
  const ours = kept.has(e.key) && !commands && !(e.altKey && !character) || commands && /^[azy]$/i.test(e.key);
  if (ours) e.preventDefault();
}
window.addEventListener("keydown", e => key(1, e));
window.addEventListener("keyup", e => key(0, e));
window.addEventListener("paste", e => e.target === keyboard.field || tellProgram("paste", e.clipboardData.getData("text/plain")));

// ---- What fingers type: a keyboard comes up for a field of the page alone

const keyboard = {
  field: element("typing").querySelector("input"),
  begin(text) {
    if (!touch.last) return;
    element("typing").hidden = false;
    this.field.value = text;
    this.field.focus();
    this.field.select();
  },
  end(accepted) {
    if (element("typing").hidden) return;
    element("typing").hidden = true;
    canvas.focus({ preventScroll: true });
    if (accepted) return tellProgram("type", this.field.value);
    for (const down of [1, 0]) tellProgram("key", down, "Escape", "Escape", 0, 0);
  },
};
element("typing").addEventListener("submit", e => { e.preventDefault(); keyboard.end(true); });
keyboard.field.addEventListener("blur", () => keyboard.end(true));
keyboard.field.addEventListener("keydown", e => { if (e.key == "Escape") keyboard.end(false); });

// ---- Pointers

const place = e => {
  const at = canvas.getBoundingClientRect(), pixels = window.devicePixelRatio || 1;
  return [(e.clientX - at.left) * pixels, (e.clientY - at.top) * pixels];
};
const buttons = [0, 2, 1];  // the DOM's middle is the program's third

canvas.addEventListener("pointerdown", e => {
  touch.last = e.pointerType == "touch";
  canvas.focus();
  if (e.pointerType == "touch") return touch.down(e);
  canvas.setPointerCapture(e.pointerId);
  tellProgram("button", 1, buttons[e.button] ?? 3, ...place(e), modifiers(e));
});
canvas.addEventListener("pointermove", e => {
  if (e.pointerType == "touch") return touch.move(e);
  tellProgram("move", ...place(e));
  // The DOM tells of a second button that goes down by a move.
  if (e.button >= 0) tellProgram("button", e.buttons & [1, 4, 2][e.button] ? 1 : 0, buttons[e.button] ?? 3, ...place(e), modifiers(e));
});
canvas.addEventListener("pointerup", e => {
  if (e.pointerType == "touch") return touch.up(e);
  tellProgram("button", 0, buttons[e.button] ?? 3, ...place(e), modifiers(e));
});
canvas.addEventListener("pointercancel", e => e.pointerType == "touch" ? touch.up(e) : tellProgram("blur"));
canvas.addEventListener("pointerleave", e => { if (e.pointerType != "touch") tellProgram("leave"); });
// No mouse follows a finger, which would take the focus back to the canvas.
canvas.addEventListener("touchend", e => { if (e.cancelable) e.preventDefault(); }, { passive: false });
canvas.addEventListener("contextmenu", e => e.preventDefault());
canvas.addEventListener("wheel", e => {
  e.preventDefault();
  const notch = [100, 3, 1][e.deltaMode];
  tellProgram("wheel", e.deltaX / notch, e.deltaY / notch);
}, { passive: false });

// A tap is a click. A finger that goes up or down scrolls what it began on, one that goes sideways drags it. Two fingers
// apart zoom in between them, and together out.
const touch = {
  fingers: new Map(),
  last: false,  // whether it was a finger that came last
  way: null,  // of one finger: "scroll" or "drag", once it is known
  span() {
    const [a, b] = [...this.fingers.values()];
    return Math.hypot(a.now.clientX - b.now.clientX, a.now.clientY - b.now.clientY);
  },
  down(e) {
    canvas.setPointerCapture(e.pointerId);
    this.fingers.set(e.pointerId, { first: e, now: e });
    if (this.fingers.size == 1) tellProgram("move", ...place(e));
    if (this.fingers.size == 2) {
      if (this.way == "drag") tellProgram("button", 0, 0, ...place(e), 0);
      this.way = "pinch";
      this.began = this.span();
    }
  },
  move(e) {
    const finger = this.fingers.get(e.pointerId);
    if (!finger) return;
    const before = finger.now;
    finger.now = e;
    if (this.way == "pinch") return this.pinch();
    const across = Math.abs(e.clientX - finger.first.clientX), down = Math.abs(e.clientY - finger.first.clientY);
    if (!this.way && Math.max(across, down) > 8) {
      this.way = across > down ? "drag" : "scroll";
      if (this.way == "drag") tellProgram("button", 1, 0, ...place(finger.first), 0);
    }
    if (this.way == "drag") tellProgram("move", ...place(e));
    if (this.way == "scroll") tellProgram("wheel", 0, (before.clientY - e.clientY) / 50);
  },
  pinch() {
    if (this.fingers.size != 2) return;
    const ratio = this.span() / this.began, [a, b] = [...this.fingers.values()];
    if (ratio < 1.3 && ratio > 1 / 1.3) return;
    const middle = { clientX: (a.now.clientX + b.now.clientX) / 2, clientY: (a.now.clientY + b.now.clientY) / 2 };
    tellProgram("zoom", ratio > 1 ? 1 : 0, ...place(middle));
    this.began = this.span();
  },
  up(e) {
    if (!this.fingers.delete(e.pointerId)) return;
    if (!this.way && e.type == "pointerup") tellProgram("button", 1, 0, ...place(e), 0);
    if ((!this.way && e.type == "pointerup") || this.way == "drag") tellProgram("button", 0, 0, ...place(e), 0);
    if (this.fingers.size > 0) return;
    // Where it tapped a field the keyboard comes up in this very event, or not at all.
    if (!this.way) for (let k = 0; k < 4; k++) call("frame");
    this.way = null;
    // Nothing is pointed at any more, once what the finger did is done.
    setTimeout(() => { if (this.fingers.size == 0) tellProgram("leave"); }, 100);
  },
};

// ---- Files

let nth = 0;

async function take(files) {
  const paths = [];
  for (const file of files) {
    const folder = "/dropped/" + nth++;  // so that a file of the same name is another one
    Module.FS.mkdirTree(folder);
    Module.FS.writeFile(folder + "/" + file.name, new Uint8Array(await file.arrayBuffer()));
    paths.push(folder + "/" + file.name);
  }
  if (paths.length) tellProgram("open_files", paths.join("\n"));
}
window.addEventListener("dragover", e => e.preventDefault());
window.addEventListener("drop", e => { e.preventDefault(); take([...e.dataTransfer.files]); });
element("file").addEventListener("change", e => { take([...e.target.files]); e.target.value = ""; });

// ---- The rest of the page

for (const what of ["resize", "focus"]) window.addEventListener(what, () => tellProgram("wake"));
window.addEventListener("blur", () => tellProgram("blur"));
document.addEventListener("fullscreenchange", () => tellProgram("full_screen", document.fullscreenElement ? 1 : 0));
window.addEventListener("hashchange", e => {
  const asked = new URL(e.newURL).hash;  // location's may be the program's own again, written since
  if (asked != written) tellProgram("open", asked.slice(1));
});
canvas.addEventListener("webglcontextlost", () => giveUp(message("page.lost_graphics")));
element("problem").querySelector("button").addEventListener("click", () => { sayProblem(""); canvas.focus(); });
setInterval(() => tellProgram("wake"), 500);  // what is said for some seconds goes again

function seenTour() {  // in this browser; in a page around this one nobody wants it
  if (parent !== window) return true;
  try {
    const seen = localStorage.getItem("tilescope-tour-seen");
    localStorage.setItem("tilescope-tour-seen", "yes");
    return seen !== null;
  } catch { return false; }
}

function begin() {
  running = true;
  const stillness = matchMedia("(prefers-reduced-motion: reduce)");
  const hindered = Module.ccall("tilescope_begin", "string", ["string", "string", "number", "number"],
                                [location.href.split("#")[0], location.hash.slice(1), seenTour() ? 0 : 1, mac ? 1 : 0]);
  if (hindered) return giveUp(hindered);
  tellProgram("still", stillness.matches ? 1 : 0);
  stillness.addEventListener("change", () => tellProgram("still", stillness.matches ? 1 : 0));
  element("loading").hidden = true;
  canvas.focus({ preventScroll: true });
  draw();
  Module.ready = performance.now();
}

var Module = {
  ...(globalThis.embedded || {}),  // in the page of one file
  canvas,
  told: said,
  noInitialRun: true,
  onRuntimeInitialized: begin,
  setStatus: text => {  // "Downloading data... (12/345)"
    const share = /\((\d+)\/(\d+)\)/.exec(text);
    if (share) element("bar").value = share[1] / share[2];
  },
  onAbort: what => giveUp(message("page.did_not_begin", what)),
};
if (typeof WebAssembly != "object") giveUp(message("page.no_webassembly"));
