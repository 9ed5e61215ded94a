"use strict";
/* The page: files, menus and results. TEXTS, LOCK and VERSION are put before it when the page is built. */
const SIDES = ["gold", "predicted"];
const element = (id) => document.getElementById(id);
const files = { gold: [], predicted: [] };
const seen = {};
let language = navigator.language.startsWith("de") ? "de" : "en";
let shown = ["starting", {}], result = null, read = null;

/* Texts */
const text = (key, values = {}) =>
  TEXTS[language][key].replace(/\{(\w+)\}/g, (_, name) => String(values[name]));

const advised = (message, hint) => [message, hint ? text(hint) : ""].join("\n").trim();

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

async function startWorker() {
  worker?.terminate();
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

async function choose(side, chosen) {
  delete seen[side];
  enable(false);
  say("reading");
  try {
    files[side] = withoutFolders((await chosen).filter(({ name }) => !HIDDEN.test(name)));
    await starting;
    await ask("write", { side, files: files[side] });
    await look(side);
  } catch (error) {
    files[side] = [];
    showSide(side);
    enable();
    say("not_read", { message: error.message });
  }
}

async function look(side, form = "") {
  delete seen[side];
  if (files[side].length) {
    seen[side] = { ...await ask("job", { name: "look", asked: { side, form } }), chosen: form };
  }
  for (const each of SIDES) showSide(each);
  const found = Object.values(seen);
  say(found.some(({ error }) => error) ? "not_recognised" : seen.gold ? "choose_task" : "ready");
  if (side === "predicted") {
    element("redacted").checked = found.length === 2 && found.at(-1).columns && !found.at(-1).found.length
      && files.predicted.every(({ name }) => name.endsWith(".txt"));
  }
  enable();
}

/* Redacted texts answer one question only. */
function enable(on = true) {
  const able = on && seen.gold && SIDES.every((side) => !files[side].length || (seen[side] && !seen[side].error));
  const only = element("redacted").checked && "masking";
  element("again").disabled = !on;
  for (const button of document.querySelectorAll("[data-command]")) button.disabled = !able || (only && button.dataset.command !== only);
}

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
  box.querySelector(".seen").textContent = !found ? ""
    : found.error ? advised(found.error, found.hint) : text("seen", { files: found.files.length, form: found.form });
  if (!found?.rows) return;
  if (found.columns) {
    const both = side === "gold" && !files.predicted.length;
    if (both) asBothSides(found);
    else asOneSide(found);
    const menus = found.columns.map((column, place) => menuOf(column, place + 1, both));
    table.append(make("thead", {}, make("tr", {}, ...menus)));
  }
  const rows = found.rows.map((row) => make("tr", {}, ...row.map((value) => make("td", {}, value))));
  table.append(make("tbody", {}, ...rows));
}

/* A file alone has gold and predicted in its last two columns of tags. */
function asBothSides({ columns, found, use }) {
  if (columns.some(({ use }) => use === "gold" || use === "predicted")) return;
  const tags = found.slice(-2);
  columns.forEach((column, place) => {
    if (column.use === "tags") column.use = "";
    if (tags.length === 2 && tags.includes(place + 1)) {
      Object.assign(column, { use: place + 1 === tags[0] ? "gold" : "predicted", name: column.name || "label" });
    }
  });
}

function asOneSide({ columns }) {
  for (const column of columns) {
    if (column.use === "gold") column.use = "tags";
    else if (column.use === "predicted") column.use = "";
  }
}

function menuOf(column, place, both) {
  const uses = ["", "token", ...(both ? ["gold", "predicted"] : []), "tags", "token_id", "document"];
  const menu = make("select", { "aria-label": text("column", { number: place }) },
    ...uses.map((use) => make("option", { value: use }, text(`use_${use}`))));
  const name = make("input", { "aria-label": text("layer_name", { number: place }), value: column.name || "label", size: 8 });
  const isTags = () => ["tags", "gold", "predicted"].includes(column.use);
  menu.value = column.use;
  name.hidden = !isTags();
  menu.onchange = () => {
    column.use = menu.value;
    name.hidden = !isTags();
    column.name ||= "label";
  };
  name.oninput = () => { column.name = name.value; };
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

async function work(command, line) {
  enable(false);
  element("cancel").hidden = false;
  const began = performance.now();
  read = { bytes: 0, files: 0 };
  say("working");
  tick(began);
  clock = setInterval(tick, 500, began);
  try {
    line ??= await ask("job", { name: "line", asked: { command, sides: seen, redacted: element("redacted").checked, language } });
    take(command, line, await ask("job", { name: "run", asked: { text: line, language } }));
    stop(result.failed ? "failed" : "done");
    element("result-title").focus();
  } catch (error) {
    stop("bug", { message: error.message.trim().split("\n").at(-1) });
    await renew();
  }
}

function stop(key, values) {
  clearInterval(clock);
  element("cancel").hidden = true;
  element("progress").textContent = "";
  enable();
  say(key, values);
  document.documentElement.dataset.done = String(Number(document.documentElement.dataset.done ?? 0) + 1);
}

function take(command, line, { code, out, notes, hint, written }) {
  result?.saved.forEach(({ address }) => URL.revokeObjectURL(address));
  const saved = written.map(([name, content]) => {
    const type = name.endsWith(".html") ? "text/html" : "application/octet-stream";
    return { name, content, address: URL.createObjectURL(new Blob([content], { type })) };
  });
  const page = saved.find(({ name }) => name.endsWith(".html"));
  result = { command, line, out, notes, hint, saved, page, failed: code !== 0 && !written.length };
  showResult();
  element("line").value = line;
  element("page").hidden = !page;
  if (page) element("page").src = page.address;
}

function showResult() {
  const { command, out, notes, hint, saved, page, failed } = result;
  element("result").hidden = false;
  element("result-title").textContent = element("page").title = text(command ?? "command_line");
  element("error").textContent = failed ? advised(notes, hint) : "";
  element("printed").textContent = failed ? out : [notes, page ? "" : out].filter(Boolean).join("\n");
  element("save").replaceChildren(...saved.map(({ name, address }) =>
    make("a", { download: name, href: address }, text("save", { name }))));
}

/* Python anew, with the files */
async function renew() {
  enable(false);
  starting = startWorker();
  await starting;
  for (const side of SIDES) await ask("write", { side, files: files[side] });
  enable();
}

/* What is done by hand */
for (const side of SIDES) {
  const box = element(side);
  const chosen = (input) => choose(side, [...input.files].map((file) => ({ name: file.webkitRelativePath || file.name, file })));
  for (const input of box.querySelectorAll("input[type=file]")) input.onchange = () => chosen(input);
  box.querySelector(".forms").onchange = (event) => look(side, event.target.value);
  box.querySelector(".remove").onclick = () => {
    for (const input of box.querySelectorAll("input[type=file]")) input.value = "";
    choose(side, []);
  };
  box.ondragover = (event) => { event.preventDefault(); box.classList.add("over"); };
  box.ondragleave = () => box.classList.remove("over");
  box.ondrop = (event) => {
    event.preventDefault();
    box.classList.remove("over");
    const items = [...event.dataTransfer.items].filter(({ kind }) => kind === "file");
    choose(side, Promise.all(items.map(dropped)).then((found) => found.flat()));
  };
}
for (const button of document.querySelectorAll("[data-command]")) button.onclick = () => work(button.dataset.command);
element("redacted").onchange = () => enable();
element("again").onclick = () => work(null, element("line").value);
element("cancel").onclick = () => { stop("cancelled"); renew(); };
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
