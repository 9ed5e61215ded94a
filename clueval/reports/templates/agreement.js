"use strict";
(() => {
  const { byId, phrase, visible, make, ofLength } = page;
  const about = JSON.parse(byId("about").textContent);
  const names = about.annotators;
  const places = page.lines().map((line, number) => {
    const [id, layer, start, end, kind, boundary, votes, readings, shown, before, inside, after, tokens, fingerprint] = line;
    const anchor = `at:${encodeURIComponent(id.toWellFormed?.() ?? id)}:${about.sequences.length > 1 ? encodeURIComponent(layer.toWellFormed?.() ?? layer) + ":" : ""}${start}-${end}`;
    return { number, anchor, at: [id, layer, start, end - 1], fingerprint, id, layer, start, end, kind, boundary, votes, readings, shown, before, inside, after, tokens };
  });

  // --- decisions: the name of an annotator, or none ---------------------------------------------------------

  function options(place) {
    const read = names.map((name, number) => {
      const reading = place.readings[number];
      const off = reading === null ? phrase("{name} has not annotated this document", { name }) : reading.length ? "" : phrase("{name} has nothing here", { name });
      return { value: name, title: name, what: marked(place, reading, place.shown[number]), off };
    });
    return [...read, { value: "none", title: phrase("no span"), what: make("span", "what none", phrase("none of these spans")) }];
  }
  const decisions = page.decisions({ store: about.store, places, options, known: new Map([...names.map((name) => [name, name]), ["none", phrase("no span")]]), changed: () => show() });

  const kindOf = (kind) => kind.split("+").map((facet) => phrase(facet)).join("+");

  // --- cards -----------------------------------------------------------------------------------------------

  function marked(place, reading, shown) {
    const what = page.ofCorpus(make("span", "what"));
    if (reading === null) { what.append(make("span", "none", phrase("not annotated"))); return what; }
    if (!reading.length) { what.append(make("span", "none", phrase("nothing"))); return what; }
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
    head.append(make("span", "what", kindOf(place.kind) + (place.boundary ? ` (${phrase(place.boundary)})` : "")));
    if (about.sequences.length > 1) head.append(make("span", "", place.layer));
    head.append(...hand.begin(card, place, `${place.id} ${place.start}–${place.end - 1}`));
    card.append(head);
    if (place.before || place.inside || place.after) {
      const context = page.ofCorpus(make("p", "context"));
      context.append(visible(place.before), make("mark", "", place.inside), visible(place.after));
      card.append(ofLength(context, place.before.length + place.inside.length + place.after.length));
    }
    card.append(decisions.controls(place, card, `${place.id} ${place.start}–${place.end - 1}`));
    return card;
  }

  // --- filters ---------------------------------------------------------------------------------------------

  function fill(id, options) {
    byId(id).replaceChildren(new Option(phrase("all"), ""), ...options.map(([text, value]) => new Option(visible(text), value)));
    byId(id).parentElement.hidden = options.length < 2;
  }
  fill("f-kind", [...page.tally(places.map(({ kind }) => kind))].sort().map(([kind, n]) => [`${kind ? kindOf(kind) : phrase("none")} (${n})`, kind]));
  const pairs = [];
  names.forEach((one, i) => names.forEach((other, j) => { if (i < j) pairs.push([`${one} / ${other}`, `${i} ${j}`]); }));
  fill("f-pair", pairs);
  fill("f-layer", about.sequences.map((layer) => [layer, layer]));
  fill("f-done", Object.entries(decisions.FILTERS).map(([value, text]) => [text, value]));

  const key = (reading) => JSON.stringify(reading);
  function fits(place) {
    const text = byId("f-text").value.trim().toLowerCase(), kind = byId("f-kind").value, pair = byId("f-pair").value;
    const layer = byId("f-layer").value, done = byId("f-done").value, by = byId("f-by").value;
    if (kind && place.kind !== kind) return false;
    if (layer && place.layer !== layer) return false;
    if (done && !decisions.fits(place, done)) return false;
    if (by && !decisions.isBy(place, by)) return false;
    if (pair) {
      const [one, other] = pair.split(" ").map((number) => place.readings[number]);
      if (one === null || other === null || key(one) === key(other)) return false;
    }
    if (!text) return true;
    return [place.id, place.before + place.inside + place.after, ...place.shown].join("\n").toLowerCase().includes(text);
  }

  // --- addresses and keys -----------------------------------------------------------------------------------

  const fields = new Map(["text", "kind", "pair", "layer", "done", "by"].map((name) => [name, byId("f-" + name)]));
  const hand = page.atHand({
    places,
    shown: () => found,
    until: (index) => list.until(index),
    filters: page.filtersOf(fields),
    apply: show,
    keys: decisions.keysFor(() => hand),
  });

  const list = page.pagedList(cardOf, () => places.length ? phrase("No place matches these filters.") : phrase("No disagreements."));
  let found = places;
  function show() {
    const by = byId("f-by").value;
    fill("f-by", decisions.reviewers().map((name) => [name, name]));
    byId("f-by").value = by;
    found = places.filter(fits);
    byId("count").textContent = phrase("{found} of {n} place where annotators differ|{found} of {n} places where annotators differ", { found: found.length, n: places.length });
    list.show(found);
    hand.remember();
  }
  byId("filters").addEventListener("input", show);
  byId("filters").addEventListener("submit", (event) => event.preventDefault());
  if (!hand.goTo()) show();
  document.documentElement.dataset.ready = "yes";
})();
