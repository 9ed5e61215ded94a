"use strict";
// The page of a report: a list of places with filters, decisions and keys. page.py writes the data: a line of settings,
// then a line for each place. Text of the corpus is only ever put into text nodes and attributes, never into markup.

const byId = (id) => document.getElementById(id);
const [settings, ...rows] = byId("data").textContent.trim().split("\n").map((line, n) => n ? line : JSON.parse(line));
const { lang, facets, kinds, choices } = settings;

// --- texts -------------------------------------------------------------------------------------------------------

const number = (n) => n.toLocaleString(lang);

// A text in the language of the page, as language.py describes it.
function phrase(text, values = {}) {
  const found = settings.texts[text] ?? text;
  const [singular, plural] = "n" in values ? found.split("|") : [found];
  const chosen = values.n === 1 ? singular : plural ?? singular;
  return chosen.replace(/\{(\w+)\}/g, (_, name) => typeof values[name] === "number" ? number(values[name]) : values[name]);
}

// Characters that steer text or are no characters are shown by their numbers; clueval/files/errors.py has the list.
const STEERING = new RegExp(
  "[\\u0000-\\u0008\\u000b-\\u001f\\u007f-\\u009f\\u061c\\u200b\\u200e\\u200f\\u2028-\\u202e\\u2060-\\u206f" +
  "\\ufeff\\ufff9-\\ufffb\\ufffe\\uffff\\u{e0000}-\\u{e00ff}\\ud800-\\udfff]", "gu");
const numbered = (character) => "U+" + character.codePointAt(0).toString(16).toUpperCase().padStart(4, "0");
const FLAG = /(\u{1f3f4}[\u{e0030}-\u{e0039}\u{e0061}-\u{e007a}]{3,6}\u{e007f})/u;  // of a region, such as England
const visible = (text) => String(text).split(FLAG).map((part, n) => n % 2 ? part : part.replace(STEERING, numbered)).join("");
const cut = (text, length) => text.length > length ? [...text].slice(0, length).join("") + "…" : text;

function make(name, css = "", ...children) {
  const element = document.createElement(name);
  if (css) element.className = css;
  element.append(...children.map((child) => child instanceof Node ? child : visible(child)));
  return element;
}

function button(css, text, action) {
  const element = make("button", css, text);
  element.type = "button";
  element.addEventListener("click", action);
  return element;
}

// --- places ------------------------------------------------------------------------------------------------------

// A hundred thousand places as objects would take 300 MB, so texts and lines are read from the row when they are needed,
// and equal values of facets are one text.
const distinct = new Map();
const shared = (value) => distinct.get(value) ?? (distinct.set(value, value), value);

class Place {
  constructor(row, index) {
    const [at, fingerprint, , lines, impossible = {}] = JSON.parse(row);
    Object.assign(this, { row, index, at, fingerprint, impossible });
    this.values = lines.map(([, values]) => values.map(shared));
  }
  get anchor() {
    return "at:" + this.at.map((each) => encodeURIComponent(String(each).toWellFormed())).join(":");
  }
  content() {
    const [, , texts, lines] = JSON.parse(this.row);
    return {
      texts: texts.map(([text, marks, [before, behind]]) => ({ text, marks, before, behind })),
      lines: lines.map(([words, values, kind, label, text, note]) => ({ words, values, kind, label, text, note })),
    };
  }
  // A digest of the words under the marks, which are those of the fingerprint however much text is around them; what is
  // masked is not. FNV-1a over UTF-16 units; empty without words.
  get digest() {
    const words = this.content().texts.flatMap(({ text, marks }) => {
      const units = unitsOf(text), own = marks.filter(([kind]) => kinds[kind].style !== "masked");
      return own.map(([, start, end]) => text.slice(units(start), units(end)));
    });
    let sum = 0x811c9dc5;
    for (const unit of [...new Set(words)].sort().join("\n").split("")) sum = Math.imul(sum ^ unit.charCodeAt(0), 0x01000193);
    const digest = words.join("") && (sum >>> 0).toString(36);
    Object.defineProperty(this, "digest", { value: digest });
    return digest;
  }
  searched() {
    const { texts, lines } = this.content();
    const shown = texts.flatMap(({ text, marks }) => [text, ...marks.map((mark) => mark[3])]);
    return [...this.at, ...shown, ...lines.flatMap((line) => [line.words, line.label, line.text, line.note])].join("\n").toLowerCase();
  }
}

const places = rows.map((row, index) => new Place(row, index));

// --- a text with its marks ---------------------------------------------------------------------------------------
// Marked pieces are inline, so that lines break and right-to-left text runs as without marks. Bars are backgrounds in
// the padding of a piece, which takes no room; labels stand over or under it, outside the flow.

const BESIDE = ["above", "below"], LONGEST_LABEL = 30;
const SOLID = "linear-gradient(var(--gold) 0 0)";
const DASHED = "repeating-linear-gradient(90deg, var(--predicted) 0 5px, transparent 5px 7px)";
const RIGHT_TO_LEFT = /[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufefc]/;

// Python counts characters, the script UTF-16 units.
function unitsOf(text) {
  if (!/[\ud800-\udfff]/.test(text)) return (character) => character;
  const starts = [0];
  for (const character of text) starts.push(starts.at(-1) + character.length);
  return (character) => starts[Math.min(character, starts.length - 1)];
}

// Bars of one side that overlap, or whose labels would, have different lanes; the longer one is nearer to the text.
function withLanes(bars) {
  const free = [];
  for (const bar of bars.toSorted((one, other) => one.start - other.start || other.end - one.end)) {
    bar.lane = free.findIndex((end) => end <= bar.start);
    if (bar.lane < 0) bar.lane = free.length;
    free[bar.lane] = Math.max(bar.end, bar.start + Math.ceil(bar.shown.length * 0.75) + 1);
  }
  return free.length;
}

function sentence({ text, marks, before, behind }) {
  const units = unitsOf(text);
  const bars = marks.map(([kind, start, end, label, isWrong, note]) => {
    const { style, short, legend } = kinds[kind];
    const shown = cut(visible([short, label].filter(Boolean).join(" ")), LONGEST_LABEL);
    return { style, isWrong, shown, start: units(start), end: units(end), tip: [legend, label, note].filter(Boolean).join(" · ") };
  });
  const paragraph = make("p", "sentence");
  paragraph.dir = "auto";
  paragraph.lang = settings.text_lang;
  for (const style of BESIDE) paragraph.style.setProperty("--" + style, withLanes(bars.filter((bar) => bar.style === style)));
  if (before) paragraph.append("… ");
  const cuts = [...new Set([0, text.length, ...bars.flatMap((bar) => [bar.start, bar.end])])].sort((one, other) => one - other);
  cuts.forEach((start, n) => {
    const end = cuts[n + 1] ?? start;
    for (const bar of bars) if (bar.start === start && bar.end === start) paragraph.append(piece("‸", [bar], start, start));
    const over = bars.filter((bar) => bar.start <= start && end <= bar.end && start < end);
    if (!over.length) paragraph.append(visible(text.slice(start, end)));
    else for (const [from, to] of headAndRest(text, start, end, over)) paragraph.append(piece(text.slice(from, to), over, from, to));
  });
  if (behind) paragraph.append(" …");
  if (text.length > 600) {
    paragraph.classList.add("long");
    paragraph.tabIndex = 0;
  }
  return paragraph;
}

// A piece where a bar begins is divided after its first word, since a label stands at a box that is on one line.
function headAndRest(text, start, end, over) {
  const word = /^\s*\S+/.exec(text.slice(start, end))?.[0].length ?? 0;
  const isDivided = over.some((bar) => bar.start === start) && word && start + word < end;
  return isDivided ? [[start, start + word], [start + word, end]] : [[start, end]];
}

function piece(text, over, start, end) {
  const element = make("span", "piece", text), isRight = RIGHT_TO_LEFT.test(text), layers = [];
  for (const bar of over) {
    if (!BESIDE.includes(bar.style)) {
      element.classList.add(bar.style);
      continue;
    }
    const begins = start === bar.start, ends = end === bar.end, gaps = [begins, ends], [left, right] = isRight ? gaps.reverse() : gaps;
    const width = `calc(100% - ${left + right}px)`, height = bar.isWrong ? 4 : 2, side = bar.style;
    const edge = `calc((var(--${side}) - ${bar.lane}) * var(--lane) - 4px)`;
    const image = side === "above" ? SOLID : DASHED;
    layers.push({ image, width, height, at: `${left ? "right" : "left"} 0 ${side === "above" ? "top" : "bottom"} ${edge}` });
    if (begins) {
      const label = make("i", [side, bar.isWrong ? "wrong" : ""].join(" ").trim(), bar.shown);
      label.style.setProperty("--at", bar.lane);
      label.ariaHidden = "true";
      element.append(label);
    }
  }
  if (layers.length) {
    element.style.backgroundImage = layers.map((layer) => layer.image).join(", ");
    element.style.backgroundSize = layers.map((layer) => `${layer.width} ${layer.height}px`).join(", ");
    element.style.backgroundPosition = layers.map((layer) => layer.at).join(", ");
  }
  element.title = visible(over.map((bar) => bar.tip).join("\n"));
  if (over.some((bar) => bar.start === start)) element.tabIndex = 0;
  return make("span", "room", element);
}

// Labels that would reach over the edge of their card end with their piece instead; all are measured before any moves.
function fitLabels(cards) {
  const labels = cards.flatMap((card) => [...card.querySelectorAll(".piece > i")]);
  for (const label of labels) label.classList.remove("back");
  const rightOf = (element) => element.getBoundingClientRect().right;
  const over = labels.filter((label) => rightOf(label) > rightOf(label.closest(".card")) - 4);
  for (const label of over) label.classList.add("back");
}

// --- cards -------------------------------------------------------------------------------------------------------

const MOST_LINES = 30;

const rangeOf = (start, end) =>
  end < start ? phrase("{start} (zero length)", { start: `${start}` }) : end > start ? `${start}–${end}` : `${start}`;

function card(place) {
  const [document_, layer, start, end] = place.at;
  const item = make("li", "card"), top = make("p", "top"), list = make("ul", "lines");
  const link = make("a", "where", [document_, layer === ANY_LAYER ? phrase("all layers") : layer, rangeOf(start, end)].join(" · "));
  const isAbout = (line) => line.kind === null && !line.label && !line.text && !line.note;  // the place, no span
  item.id = place.anchor;
  item.tabIndex = -1;
  item.addEventListener("focusin", () => select(place));
  item.addEventListener("click", () => select(place));
  link.href = "#" + place.anchor;
  const { texts, lines: own } = place.content();
  const spoken = own.filter((line) => (line.words || line.text || line.note) && !isAbout(line));
  top.append(make("span", "about", link, " ", make("span", "words", own.filter(isAbout).map(({ words }) => words).join(" "))));
  list.append(...spoken.slice(0, MOST_LINES).map(lineOf));
  if (spoken.length > MOST_LINES) {
    const text = phrase("{n} more line|{n} more lines", { n: spoken.length - MOST_LINES });
    list.append(make("li", "", button("", text, () => list.replaceChildren(...spoken.map(lineOf)))));
  }
  item.append(top, ...texts.map(sentence), list);
  if (choices.length) {
    const open = button("decide", `${phrase("decide")} 1–${choices.length}`, () => {
      bring(place);
      inCard("input")?.focus();
    });
    top.append(make("span", "chip"), open);
    item.append(make("div", "review"), make("ul", "on-paper"));
    settle(place, item);
  }
  return item;
}

function lineOf(line) {
  const item = make("li", fits(line.values) ? "" : "off");
  if (line.kind !== null) item.append(make("i", "side " + kinds[line.kind].style), make("b", "", kinds[line.kind].legend), " ");
  if (line.label) item.append(make("bdi", "label", line.label), " ");
  if (line.text) {
    const text = make("bdi", "", cut(line.text, 200));
    text.lang = settings.text_lang;
    item.append(phrase("“"), text, phrase("”"), " ");
  }
  item.append(make("span", "words", line.words));
  if (line.note) item.append(" ", make("small", "", line.note));
  return item;
}

// --- decisions: lines of the file; of each reviewer the latest line about a place counts -------------------------

const COLUMNS = ["document", "layer", "start", "end_inclusive", "fingerprint", "choice", "comment", "reviewer", "time"];
const NUMBERS = ["start", "end_inclusive"];
const ORDER = ["document", "start", "end_inclusive", "layer", "time", "reviewer", "choice", "comment"];
const STORE = "clueval decisions " + settings.store, NAME = "clueval reviewer", ANY_LAYER = "*";
const DIGEST = "words_digest";  // only in the store: a file of decisions says nothing about the words
const STATES = ["decided", "undecided", "stale", "conflict"];
const STATE_WORDS = {
  decided: phrase("decided"), undecided: phrase("undecided"), stale: phrase("stale"), conflict: phrase("conflict"),
};

const byText = (one, other) => one < other ? -1 : one > other ? 1 : 0;
const inOrder = (one, other) => ORDER.reduce((found, name) => found || byText(one[name], other[name]), 0);
const byTime = (one, other) => byText(one.time, other.time) || inOrder(one, other);
const same = ({ [DIGEST]: _, ...line }) => JSON.stringify(Object.keys(line).sort().map((name) => [name, line[name]]));
const keyOf = (at) => JSON.stringify(at);
const keyOfLine = (line) => keyOf([line.document, line.layer, line.start, line.end_inclusive]);
const keysOf = ({ at: [document, layer, ...range] }) =>
  [...new Set([layer, ANY_LAYER])].map((each) => keyOf([document, each, ...range]));
const isLine = (line) => line !== null && typeof line === "object"
  && COLUMNS.every((name) => typeof line[name] === (NUMBERS.includes(name) ? "number" : "string"));

let lines = [], linesAt = new Map(), states = new Map(), from = settings.given;
let isKept = true, isUnsaved = false;  // whether the browser keeps decisions, and whether leaving would lose some

function stored(name) {
  try { return localStorage.getItem(name); } catch { isKept = false; return null; }
}
function store(name, text) {
  try { localStorage.setItem(name, text); return true; } catch { return false; }
}

function use(found) {
  lines = [...new Map(found.map((line) => [same(line), line])).values()].sort(inOrder);
  linesAt = Map.groupBy(lines, keyOfLine);
  states = new Map();
}
function read() {  // another page of the same files may have added lines
  const text = stored(STORE);
  let found = [];
  try { found = JSON.parse(text ?? "[]").filter(isLine); } catch { /* it is not ours */ }
  if (text !== null || !lines.length) use([...from, ...found]);
}
// Lines of files are about the words that this page has at their places.
function withDigests(found) {
  const added = Map.groupBy(found, keyOfLine);
  for (const place of found.length ? places : [])
    for (const line of keysOf(place).flatMap((key) => added.get(key) ?? []))
      if (line.fingerprint === place.fingerprint) line[DIGEST] = place.digest;
  return found;
}
function write(found) {
  use(found);
  isKept = store(STORE, JSON.stringify(lines));
  isUnsaved = !isKept && lines.length > 0;
  tell();
}
window.addEventListener("beforeunload", (event) => { if (isUnsaved) event.preventDefault(); });

const TIME = /^(\d+|\d{4}-\d\d-\d\d([T ]\d\d:\d\d(:\d\d)?Z?)?)$/;  // texts of one form are in the order of time

// Lines that were confirmed end a conflict; of those of one time, and of times in several forms, all count.
function settled(found) {
  const latest = new Map();
  let confirmed = [];
  const formOf = ({ time }) => TIME.test(time) ? time.replace(/[0-9]/g, "0") : time;
  const after = (before, line) =>
    [...before.filter((each) => each.time === line.time || formOf(each) !== formOf(line)), line];
  for (const line of found) {
    latest.set(line.reviewer, after(latest.get(line.reviewer) ?? [], line));
    if (line.confirmed) confirmed = after(confirmed, line);
  }
  return confirmed.length ? confirmed : [...latest.values()].flat().sort(byTime);
}

const UNDECIDED = { state: "undecided", found: [], latest: [], choice: "" };

function stateOf(place) {
  if (!states.has(place)) {
    const found = keysOf(place).flatMap((key) => linesAt.get(key) ?? []).sort(byTime);
    states.set(place, found.length ? stateOfLines(found, place) : UNDECIDED);
  }
  return states.get(place);
}

// Files with other texts may have the same names, and then have the same store.
const hasOtherWords = (line, place) => line.fingerprint === place.fingerprint
  && Boolean(line[DIGEST] && place.digest) && line[DIGEST] !== place.digest;
const holds = (line, place) => line.fingerprint === place.fingerprint && !hasOtherWords(line, place);

function stateOfLines(found, place) {
  const chosen = found.filter((line) => line.choice), current = chosen.filter((line) => holds(line, place));
  const latest = settled(current.length ? current : chosen);
  const isConflict = new Set(latest.map((line) => line.choice)).size > 1;
  const state = !latest.length ? "undecided" : !current.length ? "stale" : isConflict ? "conflict" : "decided";
  return { state, found, latest, choice: state === "decided" ? latest[0].choice : "" };
}

const me = () => byId("reviewer").value.trim();
const isOwn = (place) => (line) =>
  line.reviewer === me() && keyOfLine(line) === keyOf(place.at) && holds(line, place);
const ownOf = (place) => stateOf(place).found.find(isOwn(place));

function put(place, change) {
  read();
  const [document, layer, start, end_inclusive] = place.at;
  const blank = { document, layer, start, end_inclusive, fingerprint: place.fingerprint, choice: "", comment: "" };
  const { confirmed, ...own } = lines.find(isOwn(place)) ?? blank;
  const time = new Date().toISOString().slice(0, 19) + "Z";
  const line = { ...own, ...change, reviewer: me(), time, [DIGEST]: place.digest };
  const isOfOther = (each) => each.choice && each.reviewer !== me() && holds(each, place);
  const others = stateOf(place).found.filter(isOfOther);
  if (line.choice && (confirmed || others.some((each) => each.choice !== line.choice))) line.confirmed = "yes";
  const rest = lines.filter((each) => !isOwn(place)(each));
  write(line.choice || line.comment ? [...rest, line] : rest);
  if (!me()) tell(phrase("give your name under “Your decisions”, so that others see who has decided"));
}

function choose(place, choice) {
  const why = place.impossible[choice];
  if (why) tell(why);
  else put(place, { choice });
  settle(place);
}

const known = new Map(choices);
function lost() {
  const gone = new Map(linesAt);
  for (const place of places) if (stateOf(place) !== UNDECIDED) for (const key of keysOf(place)) gone.delete(key);
  return [...gone];
}
const reviewers = () => [...new Set(lines.map((line) => line.reviewer).filter(Boolean))].sort(byText);
const timeOf = ({ time }) => Number.isNaN(Date.parse(time)) ? time
  : new Date(time).toLocaleString(lang, { dateStyle: "medium", timeStyle: "short", timeZone: "UTC" }) + " UTC";
const by = (line) => [line.reviewer || phrase("no name"), timeOf(line)].filter(Boolean).join(", ");
const titleOf = (choice) => known.get(choice) ?? (choice || "–");
const quoted = (text) => text ? ` ${phrase("“")}${text}${phrase("”")}` : "";
const said = (line) => `${titleOf(line.choice)} (${by(line)})${quoted(line.comment)}`;

function tell(extra = "") {
  if (!choices.length) return;
  const counts = Map.groupBy(places, (place) => stateOf(place).state), gone = lost(), sum = (state) => counts.get(state)?.length ?? 0;
  const parts = [phrase("{decided} of {n} place decided|{decided} of {n} places decided", { decided: sum("decided"), n: places.length })];
  if (sum("stale")) parts.push(`${number(sum("stale"))} ${phrase("stale")}`);
  if (sum("conflict")) parts.push(`${number(sum("conflict"))} ${phrase("in conflict")}`);
  if (gone.length) parts.push(`${number(gone.length)} ${phrase("lost")}`);
  if (!isKept) parts.push(phrase("this browser does not keep them: save them as a file"));
  byId("decided").textContent = visible([...parts, extra].filter(Boolean).join("; "));
  const values = { said: parts.join("; "), open: places.length - sum("decided"), names: reviewers().join(", ") || "–" };
  byId("signed").textContent = visible(phrase("{said}; {open} not decided; reviewers: {names}", values));
  byId("lost").hidden = !gone.length;
  byId("lost-list").replaceChildren(...gone.slice(0, 200).map(([, found]) => {
    const { document, layer, start, end_inclusive } = found[0];
    return make("li", "", `${document} · ${layer} · ${rangeOf(start, end_inclusive)}: ${found.map(said).join("; ")}`);
  }));
}

// Show on the card what is decided; the current card has the choices, too.
function settle(place, item = byId(place.anchor)) {
  if (!item || !choices.length) return;
  const { state, choice, latest, found } = stateOf(place), chip = item.querySelector(".chip"), review = item.querySelector(".review");
  chip.textContent = state === "undecided" ? "" : visible(state === "decided" ? titleOf(choice) : STATE_WORDS[state]);
  chip.dataset.state = state;
  const remarked = found.filter((line) => line.comment && !hasOtherWords(line, place));
  item.querySelector(".on-paper").replaceChildren(...remarked.map((line) => make("li", "", said(line))));
  if (place !== current) {
    review.replaceChildren();
    return;
  }
  if (!review.firstChild) review.append(...controls(place));
  for (const input of review.querySelectorAll("input[type=radio]")) input.checked = input.value === choice;
  const values = { said: latest.map(said).join("; ") }, own = ownOf(place);
  const others = found.filter((line) => line !== own && (remarked.includes(line) || latest.includes(line)));
  const remarks = state === "stale" ? [phrase("stale: {said}; the spans or their words have changed, so it does not apply", values)]
    : state === "conflict" ? [phrase("conflict: {said}; choose one to confirm it", values)]
    : others.map(said);
  review.querySelector("ul").replaceChildren(...remarks.map((text) => make("li", "", text)));
}

function controls(place) {
  const group = make("fieldset", "", make("legend", "unseen", phrase("Decision"))), comment = make("input", "comment");
  choices.forEach(([value, title], n) => {
    const why = place.impossible[value] ?? "", input = make("input");
    const label = make("label", why ? "off" : "", input, " ", make("kbd", "", n + 1), " ", title);
    Object.assign(input, { type: "radio", name: "place-" + place.index, value, disabled: Boolean(why) });
    label.title = why;
    input.addEventListener("click", () => choose(place, ownOf(place)?.choice === value ? "" : value));
    group.append(label);
  });
  Object.assign(comment, { placeholder: phrase("Comment"), ariaLabel: phrase("Comment"), maxLength: 2000 });
  comment.value = ownOf(place)?.comment ?? "";
  comment.addEventListener("change", () => { put(place, { comment: comment.value.trim() }); settle(place); });
  comment.addEventListener("keydown", (event) => { if (event.key === "Enter") byId(place.anchor).focus(); });
  return [group, make("ul", "remarks"), comment];
}

// A cell that a spreadsheet would run as a formula begins with an apostrophe; one that begins with a quotation mark is
// quoted, as in CSV.
const guarded = (text) => text.replace(/[\t\r\n]+/g, " ").replace(/^(?='*[=+\-@])/, "'");
const inQuotes = (text) => `"${text.replaceAll('"', '""')}"`;
const cell = (value) => typeof value === "number" ? value : guarded(String(value ?? "")).replace(/^"[^]*/, inQuotes);
const unquoted = (text) => text.replace(/^"((?:[^"]|"")*""(?:[^"]|"")*)"$/, (_, inside) => inside.replaceAll('""', '"'));
const plain = (text) => text.replace(/^'(?='*[=+\-@])/, "");

// A file has no digests, so a decision about other words would apply to what is here.
function save() {
  const others = new Set(places.flatMap((place) => stateOf(place).found.filter((line) => hasOtherWords(line, place))));
  const saved = lines.filter((line) => !others.has(line));
  const names = [...new Set([...COLUMNS, ...saved.flatMap(Object.keys)])].filter((name) => name !== DIGEST);
  const text = [names, ...saved.map((line) => names.map((name) => cell(line[name])))].map((cells) => cells.join("\t") + "\n").join("");
  const link = make("a");
  link.href = URL.createObjectURL(new Blob([text], { type: "text/tab-separated-values" }));
  link.download = "decisions.tsv";
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10000);
  isUnsaved = false;
}

// The records of a table, each with the number of its first line, as the command line reads them.
function recordsOf(text) {
  const head = text.split("\n").find((line) => line.trim()) ?? "";
  const mark = ["\t", ",", ";"].find((each) => head.includes(each)) ?? "\t";
  if (mark === "\t" && !head.startsWith('"'))
    return text.split(/\r?\n/).map((line, n) => [n + 1, line.split(mark).map(unquoted)]);
  const field = new RegExp(`(?:"((?:[^"]|"")*)"|(?!")([^${mark}\\r\\n]*))(${mark}|\\r?\\n|$)`, "gy"), records = [];
  let line = 1, start = 0, read = 0, cells = [];
  for (const { 0: whole, 1: quoted, 2: bare, 3: end, index } of text.matchAll(field)) {
    read = index + whole.length;
    cells.push(quoted?.replaceAll('""', '"') ?? bare);
    if (end === mark) continue;
    records.push([line, cells]);
    line += text.slice(start, read).split("\n").length - 1;
    [start, cells] = [read, []];
  }
  if (read < text.length) throw new Error(phrase("line {number}: quotation marks are wrong", { number: line }));
  return records;
}
function rowsOf(text) {
  if (/^\s*\[/.test(text)) return JSON.parse(text).map((row, n) => [n + 1, row]);
  const rows = recordsOf(text.replace(/^\ufeff/, "")).filter(([, cells]) => cells.join("").trim());
  const [[, head], ...rest] = rows.length ? rows : [[1, []]], names = head.map((name) => name.trim());
  const missing = ["document", "start", "end_inclusive", "fingerprint", "choice"].find((name) => !names.includes(name));
  if (missing) throw new Error(phrase("the file has no decisions: it has no column {column}", { column: missing }));
  return rest.map(([n, cells]) => [n, Object.fromEntries(names.map((name, column) => [name, plain(cells[column] ?? "")]))]);
}
function lineFrom([n, row]) {
  const values = Object.entries(row ?? {}).map(([name, value]) => [name, String(value ?? "")]);
  const line = Object.fromEntries(values.filter(([name, value]) => value || COLUMNS.includes(name)));
  for (const name of COLUMNS) line[name] ??= "";
  for (const name of NUMBERS) {
    if (!/^(-1|\d{1,15})$/.test(line[name]))
      throw new Error(phrase("line {number}: {column} is no position", { number: n, column: name }));
    line[name] = Number(line[name]);
  }
  const meant = [...known.keys()].filter((name) => name.toLowerCase() === line.choice.trim().toLowerCase());
  if (!known.has(line.choice) && meant.length === 1) [line.choice] = meant;
  if (line.choice.trim() && !known.has(line.choice)) {
    const about = { number: n, choice: cut(line.choice, 40) };
    throw new Error(phrase("line {number}: the choice “{choice}” is unknown here", about));
  }
  return { ...line, choice: line.choice.trim() && line.choice, layer: line.layer || ANY_LAYER };
}
async function textOf(file) {
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(await file.arrayBuffer());
  } catch {
    throw new Error(phrase("not UTF-8: save the file as plain text in UTF-8, in Excel as 'CSV UTF-8'"));
  }
}
async function take(file) {
  let found;
  try {
    found = rowsOf(await textOf(file)).map(lineFrom).filter((line) => line.choice || line.comment);
  } catch (error) {
    const isOurs = error.constructor === Error;
    tell(phrase("nothing was imported: {why}", { why: isOurs ? error.message : phrase("the file has no decisions") }));
    return;
  }
  read();
  const before = lines.length;
  write([...withDigests(found), ...lines]);
  apply();
  tell(phrase("{n} line imported|{n} lines imported", { n: lines.length - before }));
}
function forget() {
  const question = phrase("Forget all decisions and comments of this page ({n} line)?|Forget all decisions and comments of this page ({n} lines)?", { n: lines.length });
  if (!lines.length || !confirm(question)) return;
  from = [];
  write([]);
  apply();
}

// --- filters: a place is listed if one of its lines has the values of all facets ---------------------------------

const MOST_OPTIONS = 1000;
const filters = new Map(), selects = new Map(), search = byId("f-text");
const numbers = new Map(facets.map(({ name }, n) => [name, n]));
const titles = new Map([
  ...facets.map(({ name, title }) => [name, title]),
  ["done", phrase("Decision")], ["by", phrase("Reviewer")], ["text", phrase("Text")],
]);
let active = [], found = places, rendered = 0, current = null;

const fits = (values) => active.every(([n, value]) => values[n] === value);
const worded = (name, value) => name === "done" ? STATE_WORDS[value] ?? value
  : facets[numbers.get(name)]?.words.includes(value) ? phrase(value) : value;

function addSelect(name, options, isMain) {
  const element = make("select"), label = make("label", "", titles.get(name), " ", element);
  element.id = "f-" + name;
  const textOf = (value, n) => cut(visible(worded(name, value)), 60) + (n ? ` (${number(n)})` : "");
  element.append(new Option(phrase("all"), ""), ...options.map(([value, n]) => new Option(textOf(value, n), value)));
  element.addEventListener("change", () => setFilters([...filters, [name, element.value]]));
  byId(isMain ? "main-filters" : "other-filters").append(label);
  selects.set(name, element);
}

function buildFilters() {
  facets.forEach(({ name, is_main: isMain, words }, n) => {
    const counts = new Map();
    for (const place of places) {
      const inPlace = new Set(place.values.map((values) => values[n]).filter((value) => value !== null));
      for (const value of inPlace) counts.set(value, (counts.get(value) ?? 0) + 1);
    }
    const rank = (value) => words.includes(value) ? words.indexOf(value) : words.length;
    const options = [...counts].sort(([one], [other]) => rank(one) - rank(other) || byText(one, other));
    if (options.length > 1 && options.length <= MOST_OPTIONS) addSelect(name, options, isMain);
  });
  if (choices.length) {
    addSelect("done", STATES.map((state) => [state, 0]), true);
    addSelect("by", reviewers().map((name) => [name, 0]), false);
  }
  byId("more-filters").hidden = !byId("other-filters").firstChild;
}

// Set these filters, each a name and a value, and no others; of several values of one, the last counts.
function setFilters(values) {
  filters.clear();
  for (const [name, value] of values) {
    if (!titles.has(name)) continue;
    filters.delete(name);
    if (value) filters.set(name, value);
  }
  for (const [name, element] of selects) element.value = filters.get(name) ?? "";
  if (document.activeElement !== search) search.value = filters.get("text") ?? "";
  apply();
}

function apply() {
  active = [...filters].filter(([name]) => numbers.has(name)).map(([name, value]) => [numbers.get(name), value]);
  const words = (filters.get("text") ?? "").toLowerCase().split(/\s+/).filter(Boolean);
  // Where a row, which is JSON, lacks the letters of a word, its texts lack the word, and need not be read. Capital sigma
  // has two small letters.
  const letters = words.flatMap((word) => word.match(/(?:(?![σς])[\p{L}\p{N}])+/gu) ?? []);
  const isPart = (text) => (word) => text.includes(word);
  const hasWords = (place) => letters.every(isPart(place.row.toLowerCase())) && words.every(isPart(place.searched()));
  const state = filters.get("done"), reviewer = filters.get("by");
  found = places.filter((place) => (!active.length || place.values.some(fits))
    && (!words.length || hasWords(place))
    && (!state || stateOf(place).state === state)
    && (!reviewer || stateOf(place).found.some((line) => line.reviewer === reviewer)));
  byId("count").textContent = phrase("{found} of {n} place|{found} of {n} places", { found: found.length, n: places.length });
  byId("chips").replaceChildren(...[...filters].map(chipOf));
  for (const each of document.querySelectorAll("button[data-find]")) {
    const find = Object.entries(JSON.parse(each.dataset.find));
    const isSet = find.length === filters.size && find.every(([name, value]) => filters.get(name) === value);
    each.setAttribute("aria-pressed", String(isSet));
  }
  if (!found.includes(current)) current = null;
  byId("list").replaceChildren(...found.length ? [] : [make("li", "", phrase("No place matches these filters."))]);
  rendered = 0;
  extend();
  remember();
}
function chipOf([name, value]) {
  const remove = () => setFilters([...filters].filter(([each]) => each !== name));
  const chip = button("active", `${titles.get(name)}: ${cut(worded(name, value), 40)} ×`, remove);
  chip.title = phrase("Remove this filter");
  return chip;
}

// --- the list, the place at hand, and the address ----------------------------------------------------------------

function extend(until = rendered + 50) {
  const cards = found.slice(rendered, until).map(card);
  byId("list").append(...cards);
  rendered += cards.length;
  fitLabels(cards);
  byId("more").hidden = rendered >= found.length;
  byId("more").textContent = phrase("Show more ({number} left)", { number: found.length - rendered });
  byId("printed").hidden = rendered >= found.length;
  byId("printed").textContent = phrase("Printed are the first {number} of {n} places.", { number: rendered, n: found.length });
}

// "#at:..." is a place; else filters, "at" for a place, and "open" for the tables that are open.
function remember() {
  const values = new URLSearchParams([...filters]), tables = [...document.querySelectorAll("details.table")];
  if (current) values.set("at", current.anchor);
  const open = tables.flatMap((table, n) => table.open ? [n] : []);
  if (tables.some((table) => table.open !== table.defaultOpen)) values.set("open", open.join(","));
  const address = [...values.keys()].join() === "at" ? "#" + current.anchor : [...values].length ? "#f:" + values : "";
  try { history.replaceState(null, "", address || location.pathname + location.search); } catch { /* not allowed in a frame */ }
}
function goTo() {
  const hash = location.hash.slice(1);
  const values = new URLSearchParams(hash.startsWith("at:") ? { at: hash } : hash.replace(/^f:/, ""));
  const open = values.get("open")?.split(","), anchor = values.get("at");
  if (open) document.querySelectorAll("details.table").forEach((table, n) => { table.open = open.includes(String(n)); });
  const place = places.find((each) => each.anchor === anchor);
  setFilters([...values]);
  if (place && !found.includes(place)) setFilters([]);
  if (place) bring(place);
}

function select(place) {
  if (place === current) return;
  const before = current;
  current = place;
  if (before) {
    byId(before.anchor)?.classList.remove("current");
    settle(before);
  }
  byId(place.anchor).classList.add("current");
  settle(place);
  remember();
}
function bring(place) {
  if (found.indexOf(place) >= rendered) extend(found.indexOf(place) + 1);
  select(place);
  byId(place.anchor).focus({ preventScroll: true });
  byId(place.anchor).scrollIntoView({ block: "center", behavior: "instant" });
}
function step(by) {
  const next = () => found[current ? found.indexOf(current) + by : 0], state = filters.get("done");
  if (!next() && current && state && stateOf(current).state !== state) apply();  // it goes, and the list begins anew
  if (next()) bring(next());
  else if (current) tell(by > 0 ? phrase("this is the last place") : phrase("this is the first place"));
}
const inCard = (selector) => current && byId(current.anchor)?.querySelector(selector);

// --- keys --------------------------------------------------------------------------------------------------------

const KEYS = [
  ["j", phrase("next place"), () => step(1)],
  ["k", phrase("previous place"), () => step(-1)],
  ...choices.length ? [
    ["1–9", phrase("decide, in the order shown")],
    ["Backspace", phrase("take your decision back"), () => current && choose(current, "")],
    ["c", phrase("write a comment"), () => inCard(".comment")?.focus()],
  ] : [],
  ["/", phrase("search"), () => search.focus()],
  ["0", phrase("remove all filters"), () => setFilters([])],
  ["Esc", phrase("leave a field")],
  ["?", phrase("these keys"), () => byId("keys").showModal()],
];
const actions = new Map(KEYS.map(([key, , action]) => [key, action]));

document.addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey || byId("keys").open) return;
  const field = event.target.closest?.("input:not([type=radio]), select");
  if (field && event.key === "Escape") {
    field.blur();
    field.closest(".card")?.focus();
  }
  if (field) return;
  const choice = choices[Number(event.key) - 1];
  const action = choice && current ? () => choose(current, choice[0]) : actions.get(event.key);
  if (!action) return;
  event.preventDefault();
  action();
});

// --- the beginning -----------------------------------------------------------------------------------------------

function startUp() {
  byId("places").hidden = byId("help").hidden = !places.length;
  byId("decisions").hidden = !choices.length;
  byId("reviewer").value = stored(NAME) ?? "";
  withDigests(from);
  read();
  buildFilters();
  for (const table of document.querySelectorAll("details.table")) {
    table.defaultOpen = table.open;
    table.addEventListener("toggle", remember);
  }
  for (const each of document.querySelectorAll("button[data-find]")) {
    each.disabled = !places.length;
    each.addEventListener("click", () => {
      setFilters(each.ariaPressed === "true" ? [] : Object.entries(JSON.parse(each.dataset.find)));
      byId("places").scrollIntoView();
    });
  }
  const besides = { above: ` (${phrase("above the text")})`, below: ` (${phrase("below the text")})` };
  byId("marks").append(...kinds.map(({ style, short, legend }) => {
    const name = [...new Set([short, legend])].filter(Boolean).join(": ");
    return make("span", "", make("i", "side " + style), " ", name, besides[style] ?? "");
  }));
  byId("key-list").append(...KEYS.flatMap(([key, text]) => [make("dt", "", make("kbd", "", key)), make("dd", "", text)]));
  tell();
  goTo();
}

search.addEventListener("input", () => setFilters([...filters, ["text", search.value.trim()]]));
byId("filters").addEventListener("submit", (event) => event.preventDefault());
byId("more").addEventListener("click", () => extend());
byId("export").addEventListener("click", save);
byId("import-button").addEventListener("click", () => byId("import").click());
byId("import").addEventListener("change", async ({ target }) => {
  if (target.files.length) await take(target.files[0]);
  target.value = "";
});
byId("forget").addEventListener("click", forget);
byId("reviewer").addEventListener("change", () => { store(NAME, me()); apply(); tell(); });
byId("help").addEventListener("click", () => byId("keys").showModal());
byId("copy").hidden = window.parent !== window;
byId("copy").addEventListener("click", async ({ target }) => {
  try {
    await navigator.clipboard.writeText(byId("signature").textContent);
    target.textContent = phrase("Copied");
  } catch {
    getSelection().selectAllChildren(byId("signature"));
  }
});

// The tooltip of a piece that has the focus, at the lower edge of the window.
document.addEventListener("focusin", ({ target }) => {
  byId("tip").hidden = !target.matches(".piece");
  byId("tip").textContent = target.matches(".piece") ? target.title : "";
});
new IntersectionObserver((entries) => {
  if (entries.some((entry) => entry.isIntersecting) && !byId("more").hidden) extend();
}, { rootMargin: "600px" }).observe(byId("more"));
new ResizeObserver(() => fitLabels([...document.querySelectorAll(".card")])).observe(byId("list"));
window.addEventListener("beforeprint", () => {
  if (rendered < found.length) extend(Math.max(rendered, 1000));
  for (const table of document.querySelectorAll("details.table")) table.open = true;
});
window.addEventListener("hashchange", goTo);
startUp();
document.documentElement.dataset.ready = "yes";
