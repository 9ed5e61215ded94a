"use strict";
// Text from the corpus is put into the page with textContent, so it is never markup.
(() => {
  const PAGE = 50;
  const ABOVE = "\u0000above";
  const NO_LABEL = "\u0000none";
  const byId = (id) => document.getElementById(id);
  const about = JSON.parse(byId("about").textContent);
  const list = byId("list"), more = byId("more"), count = byId("count"), tip = byId("tip"), form = byId("filters"), row = byId("select-row");

  // Data: a line begins a document, or is a finding in the last document

  const findings = [];
  let home = null;
  for (const line of byId("data").textContent.split("\n")) {
    if (!line.trim()) continue;
    const fields = JSON.parse(line);
    if (fields[0] === "d") {
      home = { id: fields[1], metadata: fields[2], file: fields[3] };
      continue;
    }
    const [, side, sequence, kind, reason, text, labels, start, end, firstId, lastId, found, others,
      otherStart, otherEnd, otherFirstId, otherLastId, sentences, line_, unit, joiner, cutBefore, cutAfter,
      pieces] = fields;
    findings.push({
      side, sequence, kind, reason, text, labels, start, end, firstId, lastId, found, others, otherStart,
      otherEnd, otherFirstId, otherLastId, sentences, line: line_, unit, joiner, cutBefore, cutAfter, pieces,
      home, haystack: null,
    });
  }

  const joined = (labels) => Object.values(labels).map((label) => label === null ? "_" : label).join("|");

  function haystackOf(finding) {
    if (finding.haystack === null) {
      finding.haystack = [
        finding.pieces.map((piece) => piece[0]).join(finding.joiner), finding.text, joined(finding.labels),
        ...finding.others.map(([text, labels]) => text + " " + joined(labels)), finding.home.id,
        finding.sentences.join(" "), finding.firstId ?? "", finding.lastId ?? "",
        Object.values(finding.home.metadata).join(" "),
      ].join("\n").toLowerCase();
    }
    return finding.haystack;
  }

  // --- control characters and invisible ones are shown by their numbers -----------------------------------

  const INVISIBLE = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u061c\u200b\u200e\u200f\u2028-\u202e\u2060-\u2069\ufeff\ufff9-\ufffb\ufffe\uffff]/;
  const EACH_INVISIBLE = new RegExp(INVISIBLE.source, "g");
  const numbered = (character) => "U+" + character.charCodeAt(0).toString(16).toUpperCase().padStart(4, "0");
  const visible = (text) => text.replace(EACH_INVISIBLE, numbered);

  // --- filters ---------------------------------------------------------------------------------------------

  const selects = new Map();  // name -> {element, fits(finding, value)}

  function tally(values) {
    const counts = new Map();
    for (const value of values) counts.set(value, (counts.get(value) ?? 0) + 1);
    return counts;
  }

  function addSelect(name, title, groups, fits) {
    const options = groups.reduce((sum, group) => sum + group.options.length, 0);
    const label = document.createElement("label");
    const select = document.createElement("select");
    label.textContent = visible(title);
    select.id = "f-" + name;
    select.append(new Option("all", ""));
    for (const group of groups) {
      let parent = select;
      if (group.title && groups.length > 1) {
        parent = document.createElement("optgroup");
        parent.label = visible(group.title);
        select.append(parent);
      }
      for (const [value, shown, n] of group.options) parent.append(new Option(visible(`${shown} (${n})`), value));
    }
    label.append(select);
    if (options < 2 && !["side", "class", "label"].includes(name)) label.hidden = true;
    row.append(label);
    select.addEventListener("change", () => { released(); apply(); });
    selects.set(name, { element: select, fits });
  }

  const sorted = (counts, order) => [...counts.keys()].sort((a, b) =>
    order ? order.indexOf(a) - order.indexOf(b) : String(a).localeCompare(String(b)));
  const plain = (counts, order) =>
    [{ options: sorted(counts, order).map((value) => [value, value, counts.get(value)]) }];

  addSelect("side", "Side", plain(tally(findings.map((f) => f.side)), ["gold", "predicted", ""]),
    (f, value) => f.side === value);
  addSelect("class", "Class", plain(tally(findings.map((f) => f.kind)), about.kinds), (f, value) => f.kind === value);
  addSelect("reason", "Reason", plain(tally(findings.map((f) => f.reason))), (f, value) => f.reason === value);
  addSelect("layer", "Layer", plain(tally(findings.map((f) => f.sequence))), (f, value) => f.sequence === value);

  const layers = [...new Set(findings.flatMap((f) => Object.keys(f.labels)))];
  const labelGroups = (of) => layers.map((layer) => {
    const counts = tally(findings.map((f) => of(f, layer)).filter((value) => value !== undefined && value !== null));
    return { title: layer, options: sorted(counts).map((value) => [JSON.stringify([layer, value]), shownLabel(value), counts.get(value)]) };
  });
  function shownLabel(value) {
    return value === ABOVE ? "no match at the level" : value === NO_LABEL ? "no label" : value;
  }
  const foundOf = (f, layer) => !(layer in f.labels) || f.labels[layer] === null ? undefined
    : f.reason === "boundary" ? ABOVE : (f.found[layer] ?? NO_LABEL);
  addSelect("label", "Label", labelGroups((f, layer) => f.labels[layer]), (f, value) => {
    const [layer, label] = JSON.parse(value);
    return f.labels[layer] === label;
  });
  addSelect("found", "Found as", labelGroups(foundOf), (f, value) => {
    const [layer, label] = JSON.parse(value);
    return foundOf(f, layer) === label;
  });

  const keys = [...new Set(findings.map((f) => f.home).flatMap((d) => Object.keys(d.metadata)))];
  for (const key of keys) {
    const counts = tally(findings.map((f) => f.home.metadata[key]).filter((value) => value !== undefined));
    if (counts.size > 1 && counts.size <= 60)
      addSelect("meta-" + keys.indexOf(key), key, plain(counts), (f, value) => f.home.metadata[key] === value);
  }

  const reset = document.createElement("button");
  reset.type = "button";
  reset.className = "plain";
  reset.id = "reset";
  reset.textContent = "Reset";
  reset.addEventListener("click", () => { clear(); apply(); });
  row.append(reset);
  if (window.matchMedia("(max-width: 620px)").matches) byId("selects").open = false;
  form.addEventListener("submit", (event) => event.preventDefault());
  const search = byId("f-text");
  let waiting = 0;
  search.addEventListener("input", () => {
    clearTimeout(waiting);
    waiting = setTimeout(apply, 80);
  });

  function clear() {
    search.value = "";
    for (const { element } of selects.values()) element.value = "";
    released();
  }

  let shown = findings, rendered = 0;

  function apply() {
    const began = performance.now();
    const active = [...selects.values()].filter(({ element }) => element.value !== "")
      .map(({ element, fits }) => (f) => fits(f, element.value));
    const words = search.value.toLowerCase().split(/\s+/).filter(Boolean);
    shown = findings.filter((f) => active.every((fits) => fits(f)) &&
      (words.length === 0 || words.every((word) => haystackOf(f).includes(word))));
    list.replaceChildren();
    rendered = 0;
    render();
    tellCount();
    document.documentElement.dataset.filterMs = (performance.now() - began).toFixed(1);
  }

  function tellCount() {
    const number = (n) => n.toLocaleString("en");
    const strong = document.createElement("b");
    strong.textContent = number(shown.length);
    const sides = tally(shown.map((f) => f.side));
    const parts = [...sides].map(([side, n]) => `${number(n)} ${side || "of one side"}`).join(", ");
    const whole = shown.length === findings.length ? "" : ` of ${number(findings.length)}`;
    count.replaceChildren(strong, `${whole} error${findings.length === 1 ? "" : "s"}${parts ? `: ${parts}` : ""}`);
    const expected = about.expected;
    if (expected !== null && expected > findings.length && shown.length === findings.length)
      count.append(` (the scores count ${number(expected)} errors; the others are not selected)`);
  }

  // --- cells of the matrices -------------------------------------------------------------------------------

  function released() {
    for (const button of document.querySelectorAll(".heat button[aria-pressed=true]")) button.setAttribute("aria-pressed", "false");
  }

  function choose(name, value) {
    const { element } = selects.get(name);
    element.value = value;
    if (element.value !== value) {  // no finding has it
      element.append(new Option("none", value));
      element.value = value;
    }
  }

  for (const button of document.querySelectorAll(".heat button")) {
    button.setAttribute("aria-pressed", "false");
    button.addEventListener("click", () => {
      const pressed = button.getAttribute("aria-pressed") === "true";
      clear();
      if (!pressed) {
        const cell = JSON.parse(button.dataset.cell);
        choose("side", cell.side);
        choose("layer", cell.sequence);
        choose("label", JSON.stringify([cell.layer, cell.label]));
        choose("found", JSON.stringify([cell.layer, cell.found === null ? ABOVE : cell.found === "" ? NO_LABEL : cell.found[0]]));
        button.setAttribute("aria-pressed", "true");
      }
      apply();
      byId("findings").scrollIntoView();
    });
  }

  // --- the list --------------------------------------------------------------------------------------------

  function put(parent, text) {  // text, with control characters and invisible ones shown by their numbers
    if (!INVISIBLE.test(text)) {
      parent.append(text);
      return;
    }
    for (const part of text.split(new RegExp(`(${INVISIBLE.source})`))) {
      if (part.length === 1 && INVISIBLE.test(part)) {
        const box = make("span", "control");
        box.textContent = numbered(part);
        parent.append(box);
      } else if (part) parent.append(part);
    }
  }

  function make(name, css, text) {
    const element = document.createElement(name);
    if (css) element.className = css;
    if (text !== undefined) put(element, text);
    return element;
  }

  const range = (first, last) => first === null || first === undefined ? "" : first === last || last === null ? `${first}` : `${first}–${last}`;
  const opposite = (side) => side === "gold" ? "predicted" : "gold";

  function card(finding) {
    const item = make("li", "card");
    const head = make("div", "head");
    head.append(make("span", "side " + (finding.side === "predicted" ? "predicted" : "gold"), finding.side || "span"));
    const what = make("span", "what");
    what.append(make("i", finding.kind), finding.kind + (finding.reason === "label" ? ", wrong label" : ""));
    head.append(what, make("bdi", "", joined(finding.labels)));
    if (selects.get("layer").element.options.length > 2) head.append(make("bdi", "", finding.sequence));
    const place = [finding.home.id, finding.sentences.join(", "),
      `${finding.unit} ${range(finding.start, finding.end)}`, range(finding.firstId, finding.lastId)];
    if (finding.line !== null) place.push(`line ${finding.line}`);
    head.append(make("span", "place", place.filter(Boolean).join(" · ")));
    item.append(head, sentence(finding));
    if (finding.others.length) {
      const others = make("p", "others");
      others.append(opposite(finding.side) + ": ");
      finding.others.slice(0, 30).forEach(([text, labels], n) => {
        if (n) others.append(", ");
        others.append(make("b", "", joined(labels)), " “", make("bdi", "", text), "”");
      });
      if (finding.others.length > 30) others.append(` and ${finding.others.length - 30} more`);
      item.append(others);
    }
    return item;
  }

  function sentence(finding) {
    const line = make("p", "sentence");
    const own = finding.side === "predicted" ? "p" : "g", other = own === "g" ? "p" : "g";
    if (finding.cutBefore) line.append(make("span", "cut", "… "));
    const pieces = finding.pieces.map(([text, mine, others]) => ({ text, mine, others: others ?? [] }));
    pieces.forEach((piece, n) => {
      const before = pieces[n - 1], after = pieces[n + 1];
      if (n) {
        const shared = make("span", "");
        shared.textContent = finding.joiner;
        const css = [];
        if (before.mine && piece.mine) css.push(own);
        if (before.others.some((number) => piece.others.includes(number))) css.push(other);
        if (css.length) shared.className = "seg " + css.join(" ");
        if (finding.joiner) line.append(shared);
      }
      if (!piece.mine && !piece.others.length) {
        put(line, piece.text);
        return;
      }
      const css = ["seg"], starting = [];
      const ends = (adjacent) => (number) => !adjacent || !adjacent.others.includes(number);
      if (piece.mine) {
        css.push(own);
        if (!before || !before.mine) { css.push(own + "-start"); starting.push([finding.side || "gold", finding.labels]); }
        if (!after || !after.mine) css.push(own + "-end");
      }
      if (piece.others.length) {
        css.push(other);
        if (piece.others.some(ends(before))) css.push(other + "-start");
        if (piece.others.some(ends(after))) css.push(other + "-end");
        for (const number of piece.others.filter(ends(before)))
          if (finding.others[number]) starting.push([opposite(finding.side), finding.others[number][1]]);
      }
      const segment = make("span", css.join(" "));
      for (const [side, labels] of starting) segment.append(make("span", "tag " + side, joined(labels)));
      put(segment, piece.text || "‸");
      segment.tabIndex = 0;
      segment.tip = () => tipText(finding, piece);
      line.append(segment);
    });
    if (finding.cutAfter) line.append(make("span", "cut", " …"));
    return line;
  }

  function tipText(finding, piece) {
    const lines = [];
    const labelled = (labels) => Object.entries(labels).map(([layer, label]) => `${layer}: ${label ?? "no label"}`).join(", ");
    const where = (start, end, first, last) => `${finding.unit} ${range(start, end)}${range(first, last) ? `, id ${range(first, last)}` : ""}`;
    if (piece.mine) lines.push(`${finding.side || "this span"} · ${labelled(finding.labels)} · ${where(finding.start, finding.end, finding.firstId, finding.lastId)}`);
    for (const number of piece.others) {
      const span = finding.others[number];
      if (span) lines.push(`${opposite(finding.side)} · ${labelled(span[1])} · “${span[0].slice(0, 120)}”`);
    }
    if (piece.others.length)
      lines.push(`all of ${opposite(finding.side)} here · ${where(finding.otherStart, finding.otherEnd, finding.otherFirstId, finding.otherLastId)}`);
    return lines.join("\n");
  }

  function render() {
    const next = shown.slice(rendered, rendered + PAGE);
    list.append(...next.map(card));
    rendered += next.length;
    if (!shown.length) list.append(make("li", "empty", findings.length ? "No error matches these filters." : "No errors."));
    more.hidden = rendered >= shown.length;
    more.textContent = `Show more (${(shown.length - rendered).toLocaleString("en")} left)`;
  }

  more.addEventListener("click", render);
  new IntersectionObserver((entries) => {
    if (entries.some((entry) => entry.isIntersecting) && !more.hidden) render();
  }, { rootMargin: "600px" }).observe(more);
  window.addEventListener("beforeprint", () => { while (rendered < Math.min(shown.length, 1000)) render(); });

  // --- tooltips: by pointer, by keyboard and by touch -------------------------------------------------------

  let tipped = null;

  function showTip(element) {
    hideTip();
    tip.replaceChildren();
    put(tip, element.tip());
    tip.hidden = false;
    const box = element.getClientRects()[0] ?? element.getBoundingClientRect();
    const left = Math.min(Math.max(box.left, 12), document.documentElement.clientWidth - tip.offsetWidth - 12);
    const below = box.bottom + tip.offsetHeight + 12 < window.innerHeight;
    tip.style.left = `${left + window.scrollX}px`;
    tip.style.top = `${(below ? box.bottom + 7 : box.top - tip.offsetHeight - 7) + window.scrollY}px`;
    element.setAttribute("aria-describedby", "tip");
    tipped = element;
  }

  function hideTip() {
    tip.hidden = true;
    if (tipped) tipped.removeAttribute("aria-describedby");
    tipped = null;
  }

  const withTip = (event) => event.target instanceof Element ? event.target.closest("span.seg[tabindex]") : null;
  for (const name of ["mouseover", "focusin"])
    list.addEventListener(name, (event) => { const element = withTip(event); if (element) showTip(element); else if (name === "mouseover") hideTip(); });
  list.addEventListener("mouseleave", hideTip);
  list.addEventListener("focusout", hideTip);
  document.addEventListener("keydown", (event) => { if (event.key === "Escape") hideTip(); });

  apply();
  document.documentElement.dataset.ready = "yes";
})();
