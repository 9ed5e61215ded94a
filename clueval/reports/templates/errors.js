"use strict";
(() => {
  const { byId, number, phrase, visible, make, put, tally } = page;
  const MOST_VALUES = 60;  // of a filter for metadata or documents
  const ABOVE = "\u0000above";
  const NO_LABEL = "\u0000none";
  const ROWS = [["gold", ""], ["predicted", ""], ["predicted", " second"]];  // side and class of the rows of bars
  const about = JSON.parse(byId("about").textContent);
  const systems = about.systems ?? [];
  const count = byId("count"), form = byId("filters"), row = byId("select-row");

  // --- data: a line begins a document, or is a place in the last document with its text, spans and errors ---

  const joined = (labels) => Object.values(labels).map((label) => label === null ? "_" : label).join("|");
  const withJoined = (labels, sequence) =>
    Object.keys(labels).length > 1 ? { ...labels, [sequence]: joined(labels) } : labels;
  const places = [], findings = [];
  let home = null;
  for (const fields of page.lines()) {
    if (fields[0] === "d") {
      home = { id: fields[1], metadata: fields[2], file: fields[3] };
      continue;
    }
    const [, anchor, start, end, unit, cutBefore, cutAfter, pieces, bars, errors, layer, fingerprint] = fields;
    const place = { anchor, at: [home.id, layer, start, end], fingerprint, start, end, unit, cutBefore, cutAfter, pieces, home, haystack: null, index: places.length };
    place.bars = bars.map(([row, labels, start, end, first, last, lane, tip]) => {
      const [side, css] = ROWS[row];
      return { row, side, css: side + css, labels, start, end, first, last, lane, tip, wrong: false };
    });
    place.errors = errors.map(([number, side, sequence, kind, reason, found, firstId, lastId, sentences, line, state, views, more]) => {
      const bar = place.bars[number];
      for (const each of [number, ...more ?? []]) place.bars[each].wrong = true;
      return {
        bar, labels: withJoined(bar.labels, sequence), side, sequence, firstId, lastId, sentences, line, place, home, state,
        views: (views ?? [[0, kind, reason, found]]).map(([system, kind, reason, found]) => ({ system, kind, reason, found: withJoined(found, sequence) })),
      };
    });
    places.push(place);
    findings.push(...place.errors);
  }

  const textOf = (bar, pieces) => pieces.slice(bar.first, bar.last).join("").trim();

  function haystackOf(place) {
    if (place.haystack === null) {
      place.haystack = [
        place.pieces.join(""), ...place.bars.map((bar) => joined(bar.labels)), place.home.id,
        ...place.errors.flatMap((f) => [...f.sentences, f.firstId ?? "", f.lastId ?? ""]),
        ...Object.values(place.home.metadata),
      ].join("\n").toLowerCase();
    }
    return place.haystack;
  }

  // --- filters ---------------------------------------------------------------------------------------------

  const selects = new Map();  // name -> {element, fits(finding, value, view)}; a view is the class in one system

  function addSelect(name, title, groups, fits, first = phrase("all"), always = false) {
    const options = groups.reduce((sum, group) => sum + group.options.length, 0);
    const label = document.createElement("label");
    const select = document.createElement("select");
    label.textContent = visible(title);
    select.id = "f-" + name;
    select.append(new Option(first, ""));
    for (const group of groups) {
      let parent = select;
      if (group.title && groups.length > 1) {
        parent = document.createElement("optgroup");
        parent.label = visible(group.title);
        select.append(parent);
      }
      for (const [value, shown, n] of group.options) parent.append(new Option(visible(n === undefined ? shown : `${shown} (${n})`), value));
    }
    label.append(select);
    if (options < 2 && !always && !["side", "class", "reason", "label"].includes(name)) label.hidden = true;
    row.append(label);
    select.addEventListener("change", () => { released(); apply(); });
    selects.set(name, { element: select, fits });
  }

  const sorted = (counts, order) => [...counts.keys()].sort((a, b) =>
    order ? order.indexOf(a) - order.indexOf(b) : String(a).localeCompare(String(b)));
  const shownAs = (value) => systems.includes(value) ? value : phrase(value);  // systems have names
  const plain = (counts, order) =>
    [{ options: sorted(counts, order).map((value) => [value, order ? shownAs(value) : value, counts.get(value)]) }];

  const views = findings.flatMap((f) => f.views.map((view) => ({ f, ...view })));
  if (systems.length) {
    addSelect("state", phrase(about.stateTitle), plain(tally(findings.map((f) => f.state)), about.states), (f, value) => f.state === value);
    addSelect("system", phrase("System"), plain(tally(views.map((v) => systems[v.system])), systems), (f, value, v) => systems[v.system] === value);
  }
  addSelect("side", phrase("Side"), plain(tally(findings.map((f) => f.side)), ["gold", "predicted", ""]),
    (f, value) => f.side === value);
  addSelect("class", phrase("Class"), plain(tally(views.map((v) => v.kind)), about.kinds), (f, value, v) => v.kind === value);
  addSelect("reason", phrase("Reason"), plain(tally(views.map((v) => v.reason)), about.reasons), (f, value, v) => v.reason === value);
  addSelect("layer", phrase("Layer"), plain(tally(findings.map((f) => f.sequence))), (f, value) => f.sequence === value);

  const layers = [...new Set(findings.flatMap((f) => Object.keys(f.labels)))];
  const labelGroups = (all, of) => layers.map((layer) => {
    const counts = tally(all.map((each) => of(each, layer)).filter((value) => value !== undefined && value !== null));
    return { title: layer, options: sorted(counts).map((value) => [JSON.stringify([layer, value]), shownLabel(value), counts.get(value)]) };
  });
  function shownLabel(value) {
    return value === ABOVE ? phrase("no match") : value === NO_LABEL ? phrase("no label") : value;
  }
  const foundOf = (f, layer, view) => !(layer in f.labels) || f.labels[layer] === null ? undefined
    : !about.matched.includes(view.kind) ? ABOVE : (view.found[layer] ?? NO_LABEL);
  addSelect("label", phrase("Label"), labelGroups(findings, (f, layer) => f.labels[layer]), (f, value) => {
    const [layer, label] = JSON.parse(value);
    return f.labels[layer] === label;
  });
  addSelect("found", phrase("Found as"), labelGroups(views, (v, layer) => foundOf(v.f, layer, v)), (f, value, v) => {
    const [layer, label] = JSON.parse(value);
    return foundOf(f, layer, v) === label;
  });

  const documents = tally(findings.map((f) => f.home.id));
  if (documents.size <= MOST_VALUES)
    addSelect("document", phrase("Document"), plain(documents), (f, value) => f.home.id === value);
  const keys = [...new Set(findings.map((f) => f.home).flatMap((d) => Object.keys(d.metadata)))];
  for (const key of keys) {
    const counts = tally(findings.map((f) => f.home.metadata[key]).filter((value) => value !== undefined));
    if (counts.size > 1 && counts.size <= MOST_VALUES)
      addSelect("meta-" + keys.indexOf(key), key, plain(counts), (f, value) => f.home.metadata[key] === value);
  }

  const MEANINGS = {
    predicted: phrase("gold is wrong"), gold: phrase("the system is wrong"), both: phrase("both spans are right"),
    none: phrase("neither is right"),
  };
  const KNOWN = new Map([...(systems.length ? ["gold", ...systems] : ["predicted", "gold", "both"]), "none", "unclear"]
    .map((value) => [value, shownAs(value)]));
  const CHOICES = [...KNOWN].map(([value, title]) => ({ value, title: MEANINGS[value] ? `${title}: ${MEANINGS[value]}` : title }));
  const decisions = page.decisions({
    store: about.store, given: about.given, places, options: () => CHOICES, known: KNOWN, changed: () => apply(),
  });
  const unnumbered = (words) => [{ options: Object.entries(words).map(([value, shown]) => [value, Array.isArray(shown) ? shown[0] : shown]) }];
  addSelect("done", phrase("Decision"), unnumbered(decisions.FILTERS), (f, value) => decisions.fits(f.place, value));
  addSelect("by", phrase("Reviewer"), [{ options: [] }], (f, value) => decisions.isBy(f.place, value));

  // orders other than that of the text; the worst reason of a place counts, and only errors that fit
  const WORST = ["label", "boundary", "boundary+label", "spurious", "missed"];
  function worst(here) {
    let found = 0;
    for (const f of here) for (const view of f.views) found = Math.max(found, WORST.indexOf(view.reason));
    return found;
  }
  const byNumber = (a, b) => b.key - a.key, byText = new Intl.Collator(page.language).compare;
  const ORDERS = {  // name, key of the errors of a place, order of keys
    worst: [phrase("worst reason first"), (here) => worst(here) * 1e6 + here.length, byNumber],
    most: [phrase("most errors first"), (here) => here.length, byNumber],
    label: [phrase("by label"), (here) => joined(here[0].bar.labels), (a, b) => byText(a.key, b.key)],
  };
  addSelect("sort", phrase("Order"), unnumbered(ORDERS), () => true, phrase("text order"), true);

  const reset = document.createElement("button");
  reset.type = "button";
  reset.className = "plain";
  reset.id = "reset";
  reset.textContent = phrase("Reset");
  reset.addEventListener("click", () => { clear(); apply(); });
  row.append(reset);
  if (window.matchMedia("(max-width: 620px)").matches) {  // the list begins sooner
    for (const part of [byId("selects"), ...document.querySelectorAll(".folds")]) part.open = false;
  }
  form.addEventListener("submit", (event) => event.preventDefault());
  const search = byId("f-text");
  let waiting = 0;
  search.addEventListener("input", () => {
    clearTimeout(waiting);
    waiting = setTimeout(apply, 80);
  });

  const filters = [], cleared = [];  // further conditions, and what to do when all filters are cleared

  function clear() {
    search.value = "";
    for (const forget of cleared) forget();
    for (const { element } of selects.values()) element.value = "";
    released();
  }

  let fitting = new Set(findings), shown = places;

  function apply() {
    const began = performance.now();
    const by = selects.get("by").element, before = by.value;
    by.replaceChildren(new Option(phrase("all"), ""), ...decisions.reviewers().map((name) => new Option(visible(name), name)));
    by.value = before;
    by.parentElement.hidden = by.length < 3;
    const active = [...selects.values()].filter(({ element }) => element.value !== "")
      .map(({ element, fits }) => (f, view) => fits(f, element.value, view)).concat(filters);
    const fitsAll = (f) => f.views.some((view) => active.every((fits) => fits(f, view)));
    const words = search.value.toLowerCase().split(/\s+/).filter(Boolean);
    const searched = words.length
      ? places.filter((place) => words.every((word) => haystackOf(place).includes(word))) : places;
    const order = ORDERS[selects.get("sort").element.value];
    const found = [];
    fitting = new Set();
    for (const place of searched) {
      const here = active.length ? place.errors.filter(fitsAll) : place.errors;
      if (here.length) found.push({ place, key: order ? order[1](here) : 0 });
      for (const f of here) fitting.add(f);
    }
    if (order) found.sort(order[2]);
    shown = found.map(({ place }) => place);
    list.show(shown);
    tellCount(shown.length);
    hand.remember();
    document.documentElement.dataset.filterMs = (performance.now() - began).toFixed(1);
  }

  function tellCount(shown) {
    const inWords = (places, errors) => `${phrase("{n} place|{n} places", { n: places })}, ${phrase("{n} error|{n} errors", { n: errors })}`;
    const strong = make("b", "", inWords(shown, fitting.size));
    const sides = tally([...fitting].map((f) => f.side));
    const parts = [...sides].map(([side, n]) => `${number(n)} ${side ? phrase(side) : phrase("of one side")}`).join(", ");
    const whole = fitting.size === findings.length ? "" : " " + phrase("of {all}", { all: inWords(places.length, findings.length) });
    count.replaceChildren(strong, whole, parts ? ` (${parts})` : "");
    const expected = about.expected;
    if (expected !== null && expected > findings.length && fitting.size === findings.length)
      count.append(phrase("; the scores count {n} error, the others are not selected|; the scores count {n} errors, the others are not selected", { n: expected }));
  }

  // --- cells of the matrices -------------------------------------------------------------------------------

  function released() {
    for (const button of document.querySelectorAll(".heat button[aria-pressed=true]")) button.setAttribute("aria-pressed", "false");
  }

  function choose(name, value) {
    const { element } = selects.get(name);
    element.value = value;
    if (element.value !== value) {  // no finding has it
      element.append(new Option(phrase("none"), value));
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

  for (const button of document.querySelectorAll("button[data-filter]")) {
    button.addEventListener("click", () => {
      clear();
      for (const [name, value] of Object.entries(JSON.parse(button.dataset.filter))) choose(name, value);
      apply();
      byId("findings").scrollIntoView();
    });
  }

  // --- the list --------------------------------------------------------------------------------------------

  const MOST_ERRORS = 30;
  const WORDS = /\s*\S+\s*|\s+/g;
  const range = (first, last) => first === null || first === undefined ? "" : first === last || last === null ? `${first}` : `${first}–${last}`;

  function card(place) {
    const item = make("li", "card");
    const head = make("div", "head");
    const sentences = [...new Set(place.errors.flatMap((f) => f.sentences))].join(", ");
    const text = [place.home.id, sentences, `${phrase(place.unit)} ${range(place.start, place.end)}`].filter(Boolean).join(" · ");
    head.append(...hand.begin(item, place, text));
    const errors = make("ul", "errors");
    errors.append(...place.errors.slice(0, MOST_ERRORS).map(errorLine));
    if (place.errors.length > MOST_ERRORS) {
      const more = make("button", "plain", phrase("{n} more error|{n} more errors", { n: place.errors.length - MOST_ERRORS }));
      more.type = "button";
      more.addEventListener("click", () => errors.replaceChildren(...place.errors.map(errorLine)));
      const last = make("li");
      last.append(more);
      errors.append(last);
    }
    item.append(head, sentence(place), errors, decisions.controls(place, item, text));
    return item;
  }

  function errorLine(f) {
    const line = make("li", fitting.has(f) ? "error" : "error off");
    const what = make("span", "what");
    const words = f.views.map((view) => phrase(view.reason) + (view.kind === view.reason ? "" : ` (${phrase(view.kind)})`));
    const same = new Set(words).size === 1 ? words.slice(0, 1) : words.map((each, n) => `${systems[f.views[n].system]} ${each}`);
    if (f.state) what.append(phrase(f.state) + ": ");
    what.append(make("i", "part-" + f.views[0].reason.replace("+", "-")), same.join(", "));
    const ids = range(f.firstId, f.lastId);
    const where = [`${phrase(f.place.unit)} ${range(f.bar.start, f.bar.end)}`, ids && `id ${ids}`, f.line !== null && phrase("line {line}", { line: String(f.line) })];
    const text = textOf(f.bar, f.place.pieces);
    line.append(make("b", "side " + f.bar.side, phrase(f.side || "span")), " ", make("bdi", "label", joined(f.bar.labels)), " ", phrase("“"),
      page.ofCorpus(make("bdi", "", text.length > 200 ? text.slice(0, 200) + "…" : text)), phrase("”"), " ", what, " ",
      make("span", "ids", where.filter(Boolean).join(" · ")));
    return line;
  }

  function sentence(place) {
    const line = page.ofLength(page.ofCorpus(make("p", "sentence")), place.pieces.reduce((sum, piece) => sum + piece.length, 0));
    for (const [name, side] of [["--above", "gold"], ["--below", "predicted"]])
      line.style.setProperty(name, Math.max(0, ...place.bars.filter((bar) => bar.side === side).map((bar) => bar.lane + 1)));
    if (place.cutBefore) line.append(make("span", "cut", "… "));
    place.pieces.forEach((piece, number) => {
      const over = place.bars.filter((bar) => bar.first <= number && number < bar.last);
      if (!over.length) {
        put(line, piece);
        return;
      }
      const words = piece.match(WORDS) ?? ["‸"];
      words.forEach((text, n) => {
        const word = make("span", "word");
        let width = 0;
        for (const bar of over) {
          const begins = n === 0 && number === bar.first, ends = n === words.length - 1 && number === bar.last - 1;
          const mark = make("i", ["bar", bar.css, bar.wrong ? "wrong" : "", begins ? "begins" : "", ends ? "ends" : ""].filter(Boolean).join(" "));
          mark.style.setProperty("--lane", bar.lane);
          mark.setAttribute("aria-hidden", "true");
          if (begins) {
            const label = joined(bar.labels);
            const shown = (systems.length && bar.row ? systems[bar.row - 1] + " " : "") + (label.length > 30 ? label.slice(0, 30) + "…" : label);
            mark.append(visible(shown));
            width = Math.max(width, shown.length * 0.68 + 1);
          }
          word.append(mark);
        }
        page.tip(word, over.map((bar) => bar.tip).join(" | "), width > 0);
        if (width) word.style.minWidth = `${width.toFixed(1)}ch`;
        put(word, text);
        line.append(word);
      });
    });
    if (place.cutAfter) line.append(make("span", "cut", " …"));
    return line;
  }

  // --- addresses and keys ----------------------------------------------------------------------------------

  const hand = page.atHand({
    places,
    shown: () => shown,
    until: (index) => list.until(index),
    filters: {
      values() {
        const set = [...selects].filter(([, { element }]) => element.value !== "").map(([name, { element }]) => [name, element.value]);
        return search.value ? [...set, ["text", search.value]] : set;
      },
      set(values) {
        clear();
        for (const [name, value] of values) {
          if (selects.has(name)) choose(name, value);
          else if (name === "text") search.value = value;
        }
      },
    },
    apply,
    keys: decisions.keysFor(() => hand),
  });

  const list = page.pagedList(card, () => findings.length ? phrase("No error matches these filters.") : phrase("No errors."));
  if (!hand.goTo()) apply();
  document.documentElement.dataset.ready = "yes";
  page.errors = { findings, clear, apply, addFilter: (fits) => filters.push(fits), onClear: (forget) => cleared.push(forget) };
})();
