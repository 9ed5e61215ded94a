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
      return { value: name, title: name, what: marked(place, reading, place.shown[number], name), off };
    });
    return [...read, { value: "none", title: phrase("no span"), what: make("span", "what none", phrase("none of these spans")) }];
  }
  const decisions = page.decisions({ store: about.store, places, options, known: new Map([...names.map((name) => [name, name]), ["none", phrase("no span")]]), changed: () => hand.show() });

  const kindOf = (kind) => kind.split("+").map((facet) => phrase(facet)).join("+");

  // --- cards -----------------------------------------------------------------------------------------------

  function tipOf(place, name, reading) {
    const spans = (reading ?? []).map(([from, to, label]) => `${label} ${place.start + from}–${place.start + to - 1}`).join(", ");
    return `${name} · ${place.layer} · ${reading === null ? phrase("not annotated") : spans || phrase("nothing")}`;
  }

  function marked(place, reading, shown, name) {
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
      page.tip(piece, over.map(([from, to, label]) => tipOf(place, name, [[from, to, label]])).join(" | "));
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
      context.append(visible(place.before), page.tip(make("mark", "", place.inside), names.map((name, n) => tipOf(place, name, place.readings[n])).join(" | "), true), visible(place.after));
      card.append(ofLength(context, place.before.length + place.inside.length + place.after.length));
    }
    card.append(decisions.controls(place, card, `${place.id} ${place.start}–${place.end - 1}`));
    return card;
  }

  // --- filters ---------------------------------------------------------------------------------------------

  page.fillFilter("kind", [...page.tally(places.map(({ kind }) => kind))].sort().map(([kind, n]) => [`${kind ? kindOf(kind) : phrase("none")} (${n})`, kind]));
  const pairs = [];
  names.forEach((one, i) => names.forEach((other, j) => { if (i < j) pairs.push([`${one} / ${other}`, `${i} ${j}`]); }));
  page.fillFilter("pair", pairs);
  page.fillFilter("layer", about.sequences.map((layer) => [layer, layer]));

  const key = (reading) => JSON.stringify(reading);
  const hand = page.filteredPlaces({
    places, cardOf, decisions,
    tests: {
      text: (place, text) => [place.id, place.before + place.inside + place.after, ...place.shown].join("\n").toLowerCase().includes(text.trim().toLowerCase()),
      kind: (place, kind) => place.kind === kind,
      layer: (place, layer) => place.layer === layer,
      pair(place, pair) {
        const [one, other] = pair.split(" ").map((number) => place.readings[number]);
        return one !== null && other !== null && key(one) !== key(other);
      },
    },
    count: (found) => phrase("{found} of {n} place where annotators differ|{found} of {n} places where annotators differ", { found, n: places.length }),
    none: places.length ? phrase("No place matches these filters.") : phrase("No disagreements."),
  });
  if (!hand.goTo()) hand.show();
  document.documentElement.dataset.ready = "yes";
})();
