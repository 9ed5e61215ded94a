"use strict";
/* The page: files, menus and results. TEXTS, LOCK and VERSION are put before it when the page is built. */
const SIDES = ["gold", "predicted"];
const element = (id) => document.getElementById(id);
const files = { gold: [], predicted: [] };
const seen = {};
let language = navigator.language.startsWith("de") ? "de" : "en";
let shown = ["starting", {}], shownResult = null, edited = false;

/* Texts */
const text = (key, values = {}) =>
  TEXTS[language][key].replace(/\{(\w+)\}/g, (_, name) => String(values[name]));

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
  if (shownResult) showResult(...shownResult);
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
    const { resolve, reject } = waiting.get(data.number);
    waiting.delete(data.number);
    if ("failed" in data) reject(new Error(data.failed));
    else resolve(data.done);
  };
  const { wasm, asm, library, packages } = parts;
  await ask("start", { wasm, asm, library, packages, lock: LOCK, version: VERSION });
}

/* Files */
async function entriesOf(entry) {
  if (entry.isFile) {
    const file = await new Promise((resolve, reject) => entry.file(resolve, reject));
    return [{ name: entry.fullPath.slice(1), file }];
  }
  const reader = entry.createReader(), found = [];
  for (;;) {
    const some = await new Promise((resolve, reject) => reader.readEntries(resolve, reject));
    if (!some.length) return found;
    for (const each of some) found.push(...await entriesOf(each));
  }
}

function withoutFolder(chosen) {
  const first = chosen[0]?.name.split("/")[0];
  const common = chosen.every(({ name }) => name.includes("/") && name.split("/")[0] === first);
  return common ? chosen.map(({ name, file }) => ({ name: name.slice(first.length + 1), file })) : chosen;
}

async function choose(side, chosen) {
  files[side] = withoutFolder(chosen.filter(({ name }) => !name.split("/").some((part) => part.startsWith("."))));
  const names = files[side].map(({ name }) => name);
  if (side === "predicted") {
    element("redacted").checked = names.length > 0 && names.every((name) => name.endsWith(".txt"));
  }
  delete seen[side];
  enable(false);
  say("reading");
  await starting;
  await ask("write", { side, files: files[side] });
  await look(side);
}

async function look(side, form = "") {
  delete seen[side];
  if (files[side].length) {
    seen[side] = { ...await ask("job", { name: "look", asked: { side, form } }), chosen: form };
  }
  for (const each of SIDES) showSide(each);
  say(files.gold.length ? "choose_task" : "ready");
  enable();
}

function enable(on = true) {
  for (const button of document.querySelectorAll("[data-command]")) button.disabled = !on || !files.gold.length;
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
    : found.error ?? text("seen", { files: found.files.length, form: found.form });
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

async function work(command, line) {
  enable(false);
  element("cancel").hidden = false;
  const began = performance.now();
  const tick = () => say("working", { seconds: Math.round((performance.now() - began) / 1000) });
  tick();
  clock = setInterval(tick, 1000);
  try {
    line ??= await ask("job", { name: "line", asked: { command, sides: seen, redacted: element("redacted").checked } });
    const done = await ask("job", { name: "run", asked: { text: line } });
    shownResult = [command, line, done];
    showResult(...shownResult);
    const failed = done.code !== 0 && !done.written.length;
    stop(failed ? "failed" : "done");
    element("result-title").focus();
  } catch (error) {
    stop("bug", { message: error.message.trim().split("\n").at(-1) });
  }
}

function stop(key, values) {
  clearInterval(clock);
  element("cancel").hidden = true;
  enable();
  say(key, values);
  document.documentElement.dataset.done = String(Number(document.documentElement.dataset.done ?? 0) + 1);
}

let addresses = [];
const address = (content, type) => {
  addresses.push(URL.createObjectURL(new Blob([content], { type })));
  return addresses.at(-1);
};

function showResult(command, line, { code, out, notes, is_advised, written: outputs }) {
  addresses.forEach((each) => URL.revokeObjectURL(each));
  addresses = [];
  element("result").hidden = false;
  element("result-title").textContent = command ? text(command) : text("command_line");
  const failed = code !== 0 && !outputs.length;
  element("error").textContent = failed ? [notes, is_advised ? text("columns_hint") : ""].join("\n").trim() : "";
  element("printed").textContent = failed ? out : [notes, outputs.some(([name]) => name.endsWith(".html")) ? "" : out].filter(Boolean).join("\n");
  element("line").value = line;
  element("save").replaceChildren(...outputs.map(([name, content]) =>
    make("a", { download: name, href: address(content, "application/octet-stream") }, text("save", { name }))));
  const page = outputs.find(([name]) => name.endsWith(".html"));
  const frame = element("page");
  frame.hidden = !page;
  if (page) {
    frame.title = element("result-title").textContent;
    frame.src = address(page[1], "text/html");
  }
}

async function cancel() {
  stop("cancelled");
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
  box.ondrop = async (event) => {
    event.preventDefault();
    box.classList.remove("over");
    const entries = [...event.dataTransfer.items].map((item) => item.webkitGetAsEntry()).filter(Boolean);
    choose(side, (await Promise.all(entries.map(entriesOf))).flat());
  };
}
for (const button of document.querySelectorAll("[data-command]")) button.onclick = () => work(button.dataset.command);
element("again").onclick = () => work(null, element("line").value);
element("cancel").onclick = cancel;
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
