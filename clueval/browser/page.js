"use strict";
/* The page: files, menus and results. TEXTS, LOCK and VERSION are put before it when the page is built. */
const SIDES = ["gold", "predicted"];
const element = (id) => document.getElementById(id);
const files = { gold: [], predicted: [] };
const seen = {};
let language = navigator.language.startsWith("de") ? "de" : "en";
let shown = ["starting", {}], result = null, read = null;
let state = 0, pending = 0; // the number of the state of files and settings, and of what is being done

/* Texts */
const text = (key, values = {}) =>
  TEXTS[language][key].replace(/\{(\w+)\}/g, (_, name) => String(values[name]));

const told = ({ key, ...values }) => text(key, values);

function say(key, values = {}) {
  shown = [key, values];
  element("state").textContent = text(key, values);
}

function translate() {
  document.documentElement.lang = element("language").value = language;
  document.title = text("title");
  for (const part of document.querySelectorAll("[data-text]")) part.textContent = text(part.dataset.text);
  for (const part of document.querySelectorAll("[data-label]")) {
    part.setAttribute("aria-label", part.dataset.label.split(" ").map((key) => text(key)).join(": "));
  }
  for (const side of SIDES) showSide(side);
  say(...shown);
  if (result) showResult();
}

/* The worker */
const parts = {};
let worker, number = 0, waiting = new Map();

function takeParts() {
  for (const part of document.querySelectorAll('script[id^="part-"]')) {
    const letters = atob(part.textContent);
    const bytes = new Uint8Array(letters.length);
    for (let i = 0; i < letters.length; i++) bytes[i] = letters.charCodeAt(i);
    parts[part.id.slice(5)] = new Blob([bytes]);
    part.remove();
  }
}

function ask(kind, asked) {
  number += 1;
  worker.postMessage({ number, kind, asked });
  return new Promise((resolve, reject) => waiting.set(number, { resolve, reject }));
}

class Stopped extends Error {}

async function startWorker() {
  worker?.terminate();
  for (const { reject } of waiting.values()) reject(new Stopped());
  waiting = new Map();
  worker = new Worker(URL.createObjectURL(new Blob([parts.worker], { type: "text/javascript" })));
  worker.onmessage = ({ data }) => {
    if (data.read) {
      read = data.read;
      return;
    }
    const { resolve, reject } = waiting.get(data.number);
    waiting.delete(data.number);
    if ("failed" in data) reject(new Error(data.failed));
    else resolve(data.done);
  };
  const { wasm, asm, library, packages } = parts;
  await ask("start", { wasm, asm, library, packages, lock: LOCK, version: VERSION });
}

/* Files */
/* Chromium cannot read entries on a page that was opened from disk; other browsers have no handles. */
const dropped = (item) => item.getAsFileSystemHandle?.().then((handle) => inHandle(handle)) ?? inEntry(item.webkitGetAsEntry());

async function inHandle(handle, name = handle.name) {
  if (handle.kind === "file") return [{ name, file: await handle.getFile() }];
  const found = [];
  for await (const each of handle.values()) found.push(...await inHandle(each, `${name}/${each.name}`));
  return found;
}

async function inEntry(entry) {
  if (entry.isFile) {
    const file = await new Promise((resolve, reject) => entry.file(resolve, reject));
    return [{ name: entry.fullPath.slice(1), file }];
  }
  const reader = entry.createReader(), found = [];
  for (;;) {
    const some = await new Promise((resolve, reject) => reader.readEntries(resolve, reject));
    if (!some.length) return found;
    for (const each of some) found.push(...await inEntry(each));
  }
}

function withoutFolders(chosen) {
  const first = chosen[0]?.name.split("/")[0] + "/";
  if (!chosen.length || !chosen.every(({ name }) => name.startsWith(first))) return chosen;
  return withoutFolders(chosen.map(({ name, file }) => ({ name: name.slice(first.length), file })));
}

const HIDDEN = /(^|\/)(\.|~\$|__MACOSX\/|(Thumbs\.db|desktop\.ini)$)/i;

/* What is counted is what the page has shown: the content is kept, whatever happens to the file. */
const kept = async ({ name, file }) => ({ name, changed: file.lastModified, file: new Blob([await file.arrayBuffer()]) });

const choices = { gold: 0, predicted: 0 };

async function choose(side, chosen) {
  const choice = ++choices[side], isLast = () => choice === choices[side];
  clear(side);
  await during("reading", async () => {
    try {
      const found = withoutFolders((await chosen).filter(({ name }) => !HIDDEN.test(name)));
      const content = await Promise.all(found.map(kept));
      if (!isLast()) return;
      files[side] = content;
      await written(side);
      if (isLast()) await look(side);
    } catch (error) {
      if (!isLast()) return;
      clear(side);
      say("not_read", { message: error.message });
    }
  });
}

/* A side without files, as the next choice finds it. */
function clear(side) {
  files[side] = [];
  delete seen[side];
  for (const input of element(side).querySelectorAll("input[type=file]")) input.value = "";
  element(side).querySelector(".forms").value = "";
  changed();
  for (const each of SIDES) showSide(each);
}

/* Files do not change while a question is answered. */
async function written(side) {
  for (;;) {
    await working;
    await starting;
    try {
      return await ask("write", { side, files: files[side] });
    } catch (error) {
      if (!(error instanceof Stopped)) throw error;
    }
  }
}

async function look(side, form = "") {
  delete seen[side];
  changed();
  if (files[side].length) {
    seen[side] = { ...await ask("job", { name: "look", asked: { side, form } }), chosen: form };
    takeOver(side);
  }
  for (const each of SIDES) showSide(each);
  say(Object.values(seen).some(({ error }) => error) ? "not_recognised" : seen.gold ? "choose_task" : "ready");
  const { gold, predicted } = seen;
  element("redacted").checked = Boolean(gold && predicted?.columns) && areTexts("predicted");
}

const areTexts = (side) => !seen[side]?.found?.length && files[side].every(({ name }) => name.endsWith(".txt"));

/* The menus of the second file are set as those of the first if it has as many columns, and is no redacted text. */
function takeOver(side) {
  const own = seen[side], other = seen[SIDES.find((each) => each !== side)];
  if (!own.columns || other?.columns?.length !== own.columns.length || SIDES.some(areTexts)) return;
  own.columns = structuredClone(other.isBoth ? other.alone : other.columns);
}

/* Files or settings are others than those of the result. */
function changed() {
  state += 1;
  showAge();
}

function showAge() {
  const isOld = result !== null && result.state !== state;
  element("result").classList.toggle("old", isOld);
  element("old").hidden = !isOld;
}

async function during(key, action) {
  pending += 1;
  enable();
  say(key);
  try {
    return await action();
  } finally {
    pending -= 1;
    enable();
  }
}

/* Redacted texts answer one question only, which then comes first. */
function enable() {
  const on = pending === 0;
  const able = on && seen.gold && SIDES.every((side) => !files[side].length || (seen[side] && !seen[side].error));
  const only = element("redacted").checked && "masking";
  element("again").disabled = element("example").disabled = !on;
  for (const button of buttons) button.disabled = !able || (only && button.dataset.command !== only);
  const first = only ? buttons.find((each) => each.dataset.command === only) : buttons[0], tasks = document.querySelector(".tasks");
  if (tasks.firstElementChild !== first) tasks.append(...new Set([first, ...buttons]));
}
const buttons = [...document.querySelectorAll("[data-command]")];

const make = (tag, attributes = {}, ...content) => {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value);
  made.append(...content);
  return made;
};

function showSide(side) {
  const box = element(side), found = seen[side];
  const table = box.querySelector("table");
  table.replaceChildren();
  box.querySelector(".form").hidden = !found;
  table.parentElement.hidden = !found?.rows;
  box.querySelector(".list").replaceChildren(...listed(side).map((line) => make("li", {}, line)));
  sayWhatIsSeen(side);
  if (!found?.rows) return;
  if (found.columns) {
    const both = side === "gold" && !files.predicted.length;
    if (both && !found.isBoth && found.found.length > 1) asBothSides(found);
    else if (!both && found.isBoth) asOneSide(found);
    const menus = found.columns.map((column, place) => menuOf(side, column, place + 1, both));
    table.append(make("thead", {}, make("tr", {}, ...menus)));
  }
  const rows = found.rows.map((row) => make("tr", {}, ...row.map((value) => make("td", {}, value))));
  table.append(make("tbody", {}, ...rows));
}

const SHOWN_FILES = 6;

function listed(side) {
  const lines = files[side].slice(0, SHOWN_FILES).map(({ name, file, changed }) => text("file", {
    name, size: Math.ceil(file.size / 1000).toLocaleString(language),
    time: new Date(changed).toLocaleString(language, { dateStyle: "short", timeStyle: "short" }),
  }));
  return files[side].length > SHOWN_FILES ? [...lines, text("more_files", { number: files[side].length - SHOWN_FILES })] : lines;
}

function sayWhatIsSeen(side) {
  const found = seen[side];
  element(side).querySelector(".seen").textContent = !found ? isNeeded(side) ? text(`${side}_needed`) : ""
    : found.error ? told(found.error)
      : [text("seen", { files: found.files.length, form: found.form }), ...aboutColumns(found), ...aboutTags(side)].join(" ");
}

/* A side without files is needed if the other has some, and these do not have both sides. */
function isNeeded(side) {
  const { gold, predicted } = seen;
  return side === "gold" ? Boolean(predicted) : Boolean(gold?.columns && !gold.isBoth && gold.columns.some(areTags));
}

function aboutTags(side) {
  const { columns } = seen[side];
  if (!columns || columns.some(areTags)) return [];
  return [text(side === "gold" ? "gold_without" : areTexts(side) ? "texts" : "without")];
}

const areTags = ({ use }) => ["tags", "gold", "predicted"].includes(use);

function aboutColumns({ columns = [], found = [] }) {
  const read = columns.flatMap((column, place) => (areTags(column) ? [place + 1] : []));
  const others = found.filter((number) => !read.includes(number));
  const about = (key, numbers) => (numbers.length ? [text(key, { columns: numbers.join(", ") })] : []);
  return [...about("tags_in", read), ...about("left_out", others)];
}

/* A file alone has gold and predicted in its last two columns of tags. What was set for a side is kept for later. */
function asBothSides(side) {
  const tags = side.found.slice(-2);
  side.isBoth = true;
  side.alone = structuredClone(side.columns);
  side.columns.forEach((column, place) => {
    if (column.use === "tags") column.use = "";
    if (tags.includes(place + 1)) {
      Object.assign(column, { use: place + 1 === tags[0] ? "gold" : "predicted", name: "label" });
    }
  });
}

function asOneSide(side) {
  side.isBoth = false;
  side.columns = side.alone;
}

function menuOf(side, column, place, both) {
  const uses = ["", "token", ...(both ? ["gold", "predicted"] : []), "tags", "token_id", "document"];
  const menu = make("select", { "aria-label": text("column", { number: place }) },
    ...uses.map((use) => make("option", { value: use }, text(`use_${use}`))));
  const name = make("input", { "aria-label": text("layer_name", { number: place }), value: column.name || "label", size: 8 });
  menu.value = column.use;
  name.hidden = !areTags(column);
  menu.onchange = () => {
    column.use = menu.value;
    name.hidden = !areTags(column);
    column.name ||= "label";
    sayWhatIsSeen(side);
    changed();
  };
  name.oninput = () => {
    column.name = name.value;
    changed();
  };
  return make("th", { scope: "col" }, menu, name);
}

/* Tasks */
let clock = 0;

function tick(began) {
  const size = (bytes) => (bytes / 1e6).toLocaleString(language, { maximumFractionDigits: 1 });
  const all = SIDES.flatMap((side) => files[side].map(({ file }) => file.size));
  element("progress").textContent = text("progress", {
    seconds: Math.round((performance.now() - began) / 1000),
    read: size(read.bytes), size: size(all.reduce((sum, each) => sum + each, 0)), opened: read.files, files: all.length,
  });
}

let working = Promise.resolve();

const work = (command, line) => { working = answer(command, line); };

async function answer(command, line) {
  const of = { state, names: Object.fromEntries(SIDES.map((side) => [side, files[side].map(({ name }) => name)])) };
  pending += 1;
  enable();
  element("cancel").hidden = false;
  const began = performance.now();
  read = { bytes: 0, files: 0 };
  say("working");
  tick(began);
  clock = setInterval(tick, 500, began);
  try {
    line ??= await ask("job", { name: "line", asked: { command, sides: seen, redacted: element("redacted").checked, language } });
    take(command, line, of, await ask("job", { name: "run", asked: { text: line, language } }));
    stop(result.failed ? "failed" : "done");
    setFull(Boolean(result.page));
    element("result-title").focus();
  } catch (error) {
    if (error instanceof Stopped) {
      stop("cancelled");
    } else {
      stop("bug", { message: error.message.trim().split("\n").at(-1) });
      renew();
    }
  }
}

function stop(key, values) {
  clearInterval(clock);
  element("cancel").hidden = true;
  element("progress").textContent = "";
  pending -= 1;
  enable();
  say(key, values);
  document.documentElement.dataset.done = String(Number(document.documentElement.dataset.done ?? 0) + 1);
}

function take(command, line, of, { code, out, notes, error, written }) {
  result?.saved.forEach(({ address }) => URL.revokeObjectURL(address));
  const saved = written.map(([name, content]) => {
    const type = name.endsWith(".html") ? "text/html" : "application/octet-stream";
    return { name, content, address: URL.createObjectURL(new Blob([content], { type })) };
  });
  const page = saved.find(({ name }) => name.endsWith(".html"));
  result = { ...of, command, line, out, notes, error, saved, page, failed: code !== 0 && !written.length };
  showResult();
  element("line").value = line;
  element("page").hidden = element("full").hidden = !page;
  if (page) element("page").src = page.address;
}

function showResult() {
  const { command, names, out, notes, error, saved, page, failed } = result;
  element("result").hidden = false;
  showAge();
  const [gold, predicted] = SIDES.map((side) => (names[side].length > 1 ? text("several", { number: names[side].length }) : names[side][0]));
  const question = text(command ?? "command_line").replace(/[^?]$/, "$&:");
  element("result-title").textContent = element("page").title =
    text(predicted ? "of_both" : "of_one", { question, gold, predicted });
  element("error").textContent = failed ? told(error) : "";
  element("printed").textContent = failed ? out : [notes, page ? "" : out].filter(Boolean).join("\n");
  element("save").replaceChildren(...saved.map(({ name, address }) =>
    make("a", { download: name, href: address }, text("save", { name }))));
}

/* The result alone in the window; while it is, nothing else can be reached. */
function setFull(isFull) {
  element("result").classList.toggle("full", isFull);
  for (const part of document.querySelectorAll("header, section:not(#result)")) part.inert = isFull;
  element("full").dataset.text = isFull ? "back" : "full";
  element("full").textContent = text(element("full").dataset.text);
}

/* Python anew, with the files */
async function renew() {
  pending += 1;
  enable();
  starting = startWorker();
  try {
    for (const side of SIDES) await written(side);
  } catch (error) {
    say("broken", { message: error.message });
  }
  pending -= 1;
  enable();
}

/* What is done by hand */
for (const side of SIDES) {
  const box = element(side);
  const chosen = (input) => choose(side, [...input.files].map((file) => ({ name: file.webkitRelativePath || file.name, file })));
  for (const input of box.querySelectorAll("input[type=file]")) input.onchange = () => chosen(input);
  box.querySelector(".forms").onchange = (event) => during("reading", () => look(side, event.target.value));
  box.querySelector(".remove").onclick = () => choose(side, []);
  box.ondragover = (event) => { event.preventDefault(); box.classList.add("over"); };
  box.ondragleave = () => box.classList.remove("over");
  box.ondrop = (event) => {
    event.preventDefault();
    box.classList.remove("over");
    const items = [...event.dataTransfer.items].filter(({ kind }) => kind === "file");
    choose(side, Promise.all(items.map(dropped)).then((found) => found.flat()));
  };
}
for (const button of buttons) button.onclick = () => work(button.dataset.command);
element("redacted").onchange = () => { changed(); enable(); };
element("example").onclick = () => during("reading", async () => {
  await starting;
  const texts = await ask("job", { name: "example", asked: {} });
  for (const side of SIDES) await choose(side, [{ name: `${side}.vrt`, file: new File([texts[side]], `${side}.vrt`) }]);
});
element("full").onclick = () => setFull(!element("result").classList.contains("full"));
addEventListener("keydown", ({ key }) => { if (key === "Escape") setFull(false); });
element("again").onclick = () => work(null, element("line").value);
element("cancel").onclick = () => renew();
element("language").onchange = (event) => { language = event.target.value; translate(); };
addEventListener("dragover", (event) => event.preventDefault());
addEventListener("drop", (event) => event.preventDefault());

let starting;
translate();
if (typeof WebAssembly !== "object" || typeof DecompressionStream !== "function") {
  say("too_old");
} else {
  takeParts();
  starting = startWorker();
  starting.then(() => {
    if (shown[0] === "starting") say("ready");
    document.documentElement.dataset.ready = "yes";
  }, (error) => say("broken", { message: error.message }));
}
