"use strict";
(() => {
  const { byId, visible, make, ofLength } = page;
  const about = JSON.parse(byId("about").textContent);
  const names = about.annotators;
  const places = page.lines().map((line, number) => {
    const [id, layer, start, end, kind, boundary, votes, readings, shown, before, inside, after, tokens] = line;
    const anchor = `at:${encodeURIComponent(id.toWellFormed?.() ?? id)}:${about.sequences.length > 1 ? encodeURIComponent(layer.toWellFormed?.() ?? layer) + ":" : ""}${start}-${end}`;
    const key = JSON.stringify([id, layer, start, end]), fingerprint = JSON.stringify(readings);
    return { number, anchor, key, fingerprint, id, layer, start, end, kind, boundary, votes, readings, shown, before, inside, after, tokens };
  });

  // --- choices: number of an annotator, or -1 for nothing ---------------------------------------------------

  // The browser keeps a choice by document, layer and range, with the readings of all annotators. On a later page of
  // the same annotators it applies only where the readings are still the same; the others are kept.
  const KEY = "clueval agree " + JSON.stringify(names);
  function stored() {
    try { return new Map(JSON.parse(localStorage.getItem(KEY) ?? "[]")); } catch { return new Map(); }
  }
  let kept = stored();

  function choiceAt(place) {
    const one = kept.get(place.key);
    if (one?.fingerprint !== place.fingerprint) return null;
    return one.choice === -1 || place.readings[one.choice]?.length ? one.choice : null;
  }
  const isChosen = (place) => choiceAt(place) !== null;

  function keep(choices) {
    kept = choices;
    try { localStorage.setItem(KEY, JSON.stringify([...kept])); } catch { /* the browser keeps nothing for this page */ }
  }
  function choose(place, choice) {
    const choices = new Map([...stored(), ...kept]);  // another page of the same annotators may have added some
    if (choice === null) choices.delete(place.key);
    else choices.set(place.key, { fingerprint: place.fingerprint, choice });
    keep(choices);
  }

  // --- export ----------------------------------------------------------------------------------------------

  const cell = (text) => text.replace(/[\t\r\n]/g, " ");
  function table() {
    const several = about.sequences.length > 1;
    const lines = [["document", ...(several ? ["sequence"] : []), "start", "end_inclusive", "label"].join("\t")];
    for (const place of places) {
      const choice = choiceAt(place);
      if (choice === null) continue;
      const spans = choice < 0 ? [[0, place.end - place.start, ""]] : place.readings[choice];
      for (const [start, end, label] of spans) {
        const range = [place.start + start, place.start + end - 1];
        lines.push([cell(place.id), ...(several ? [cell(place.layer)] : []), ...range, cell(label)].join("\t"));
      }
    }
    return lines.join("\n") + "\n";
  }

  let address = null;
  function showTray() {
    byId("tray").hidden = !places.length;
    const chosen = places.filter(isChosen).length, others = kept.size - chosen;
    byId("chosen").textContent = `${chosen} of ${places.length} places chosen` +
      (others ? `; ${page.many(others, "choice")} kept of places that are not on this page or have changed` : "");
    if (address) URL.revokeObjectURL(address);
    address = URL.createObjectURL(new Blob([table()], { type: "text/tab-separated-values" }));
    byId("export").href = address;
  }
  byId("clear").addEventListener("click", () => {
    if (!kept.size || !confirm(`Forget all ${page.many(kept.size, "choice")}?`)) return;
    keep(new Map());
    show();
  });

  // --- cards -----------------------------------------------------------------------------------------------

  function marked(place, reading, shown) {
    const what = page.ofCorpus(make("span", "what"));
    if (reading === null) { what.append(make("span", "none", "not annotated")); return what; }
    if (!reading.length) { what.append(make("span", "none", "nothing")); return what; }
    if (!place.tokens.length) { what.textContent = visible(shown); return what; }
    const joiner = place.inside === place.tokens.join("") ? "" : " ";
    const cuts = [...new Set([0, place.tokens.length, ...reading.flatMap(([start, end]) => [start, end])])].sort((a, b) => a - b);
    cuts.slice(0, -1).forEach((start, number) => {
      const end = cuts[number + 1];
      const over = reading.filter(([from, to]) => from <= start && end <= to);
      const text = place.tokens.slice(start, end).join(joiner);
      if (number && joiner) what.append(joiner);
      if (!over.length) { what.append(visible(text)); return; }
      const piece = make("span", "m");
      const labels = over.filter(([from]) => from === start).map(([, , label]) => label);
      if (labels.length) piece.append(make("span", "label", labels.join(" + ")));
      piece.append(visible(text));
      what.append(piece);
    });
    return what;
  }

  function cardOf(place) {
    const card = make("li", "card");
    const head = make("div", "head");
    head.append(make("span", "what", place.boundary ? `${place.kind} (${place.boundary})` : place.kind));
    if (about.sequences.length > 1) head.append(make("span", "", place.layer));
    head.append(...hand.begin(card, place, `${place.id} ${place.start}–${place.end - 1}`));
    card.append(head);
    if (place.before || place.inside || place.after) {
      const context = page.ofCorpus(make("p", "context"));
      context.append(visible(place.before), make("mark", "", place.inside), visible(place.after));
      card.append(ofLength(context, place.before.length + place.inside.length + place.after.length));
    }
    const group = make("fieldset", "readings");
    group.append(make("legend", "unseen", `Readings of ${place.id} ${place.start}`));
    const settle = () => card.classList.toggle("done", isChosen(place));
    const row = (choice, who, what, off) => {
      const line = make("label", off ? "reading off" : "reading");
      const input = make("input");
      input.type = "radio";
      input.name = "place-" + place.number;
      input.checked = choiceAt(place) === choice;
      input.disabled = off;
      if (off) input.style.visibility = "hidden";
      input.addEventListener("click", () => {  // a second click takes the choice back
        if (choiceAt(place) === choice) { choose(place, null); input.checked = false; }
        else choose(place, choice);
        settle(); showTray();
      });
      line.append(input, make("span", "who", who), what);
      group.append(line);
    };
    place.readings.forEach((reading, number) => {
      row(number, names[number], marked(place, reading, place.shown[number]), !reading?.length);
    });
    row(-1, "no span", make("span", "what none", "keep nothing here"), false);
    card.append(group);
    settle();
    return card;
  }

  // --- filters ---------------------------------------------------------------------------------------------

  function fill(id, options) {
    byId(id).replaceChildren(new Option("all", ""), ...options.map(([text, value]) => new Option(visible(text), value)));
    byId(id).parentElement.hidden = options.length < 2;
  }
  const tally = new Map();
  for (const place of places) tally.set(place.kind, (tally.get(place.kind) ?? 0) + 1);
  fill("f-kind", [...tally].sort().map(([kind, n]) => [`${kind || "none"} (${n})`, kind]));
  const pairs = [];
  names.forEach((one, i) => names.forEach((other, j) => { if (i < j) pairs.push([`${one} / ${other}`, `${i} ${j}`]); }));
  fill("f-pair", pairs);
  fill("f-layer", about.sequences.map((layer) => [layer, layer]));

  const key = (reading) => JSON.stringify(reading);
  function fits(place) {
    const text = byId("f-text").value.trim().toLowerCase(), kind = byId("f-kind").value, pair = byId("f-pair").value;
    const layer = byId("f-layer").value, done = byId("f-done").value;
    if (kind && place.kind !== kind) return false;
    if (layer && place.layer !== layer) return false;
    if (done && (done === "done") !== isChosen(place)) return false;
    if (pair) {
      const [one, other] = pair.split(" ").map((number) => place.readings[number]);
      if (one === null || other === null || key(one) === key(other)) return false;
    }
    if (!text) return true;
    return [place.id, place.before + place.inside + place.after, ...place.shown].join("\n").toLowerCase().includes(text);
  }

  // --- addresses and keys: a digit chooses the annotation of that annotator, 0 no span ----------------------

  const fields = new Map(["text", "kind", "pair", "layer", "done"].map((name) => [name, byId("f-" + name)]));
  const keys = {};
  [...names, "no span"].forEach((_, number) => {
    const digit = (number + 1) % (names.length + 1);
    if (digit < 10) keys[digit] = () => hand.inCurrent(`.reading:nth-of-type(${number + 1}) input:enabled`)?.click();
  });
  const hand = page.atHand({
    places,
    shown: () => found,
    until: (index) => list.until(index),
    filters: {
      values: () => [...fields].filter(([, field]) => field.value !== "").map(([name, field]) => [name, field.value]),
      set(values) {
        for (const field of fields.values()) field.value = "";
        for (const [name, value] of values) if (fields.has(name)) fields.get(name).value = value;
      },
    },
    apply: show,
    keys,
  });

  const list = page.pagedList(cardOf, () => places.length ? "No place matches these filters." : "No disagreements.");
  let found = places;
  function show() {
    found = places.filter(fits);
    byId("count").textContent = `${found.length} of ${places.length} places where annotators differ`;
    list.show(found);
    showTray();
    hand.remember();
  }
  byId("filters").addEventListener("input", show);
  byId("filters").addEventListener("submit", (event) => event.preventDefault());
  if (!hand.goTo()) show();
  document.documentElement.dataset.ready = "yes";
})();
