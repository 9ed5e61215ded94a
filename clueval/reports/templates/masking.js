"use strict";
(() => {
  const { byId, make, number, ofCorpus, ofLength, phrase, visible } = page;
  const about = JSON.parse(byId("about").textContent);
  const STRING = "string";
  const STATUS = { missed: phrase("can be read"), partial: phrase("can be read in part"), string: phrase("words of a mention elsewhere") };
  const STATUS_OF_OTHERS = { protected: phrase("masked"), partial: phrase("masked in part"), missed: phrase("not masked") };
  const KNOWN = new Map([["leak", phrase("leak")], ["harmless", phrase("harmless")], ["annotation", phrase("annotation")], ["unclear", phrase("unclear")]]);
  const MEANINGS = { leak: phrase("it must be masked"), harmless: phrase("it may be read"), annotation: phrase("gold is wrong") };
  const CHOICES = [...KNOWN].map(([value, title]) => ({ value, title: MEANINGS[value] ? `${title}: ${MEANINGS[value]}` : title }));

  // a line is a place; its leaks are mentions with this range, or one string leak, and only without texts it has what is exposed
  const places = page.lines().map(([anchor, at, fingerprint, leaks, pieces, siblings, more, exposed], index) => {
    const found = leaks.map(([kind, label, status, where, inPart]) => ({ kind, label, status, where, inPart }));
    const haystack = [at[0], ...pieces.map(([text]) => text), ...found.map(({ label }) => label)].join("\n").toLowerCase();
    return { index, anchor, at, fingerprint, leaks: found, pieces, siblings, more, exposed, haystack };
  });
  if (!places.length) {  // then the page has no list, no filters and no decisions
    document.documentElement.dataset.ready = "yes";
    return;
  }
  const decisions = page.decisions({
    store: about.store, given: about.given, places, options: () => CHOICES, known: KNOWN, changed: () => hand.show(),
  });

  // --- cards -----------------------------------------------------------------------------------------------

  const TIPS = { exposed: phrase("can be read"), masked: phrase("masked") };

  function context(pieces, own) {
    const text = ofCorpus(make("p", "sentence"));
    for (const [words, style, isOwn] of pieces) text.append(style ? page.tip(make("span", style + (isOwn ? " own" : ""), words), [...isOwn ? own : [], TIPS[style]].join(" | "), isOwn) : visible(words));
    return ofLength(text, pieces.reduce((sum, [words]) => sum + words.length, 0));
  }

  function tipOf(layer, leak, start, end) {
    const kind = leak.status === STRING ? [STATUS[STRING]] : [phrase("gold"), `${layer} ${leak.label}`, about.kinds[leak.kind]];
    return [...kind, phrase("characters {start} to {end}", { start, end })].join(" · ");
  }

  function others(place) {
    const all = make("details", "more"), list = make("ul", "siblings");
    all.append(make("summary", "", place.siblings.length === 1 ? phrase("the other place") : phrase("the other places")), list);
    for (const [start, end, status, anchor, pieces] of place.siblings) {
      const line = make("li"), where = make(anchor ? "a" : "span", "", `${phrase("characters {start} to {end}", { start, end })}, ${STATUS_OF_OTHERS[status]}`);
      if (anchor) where.href = "#" + anchor;
      line.append(where, ...(pieces.length ? [context(pieces, [tipOf(place.at[1], place.leaks[0], start, end)])] : []));
      list.append(line);
    }
    if (place.more > 0) list.append(make("li", "", phrase("and {number} more", { number: place.more })));
    return all;
  }

  function cardOf(place) {
    const card = make("li", "card leak"), head = make("div", "head"), [document, layer, start, last] = place.at;
    for (const { kind, label, status, where } of place.leaks) {
      if (status !== STRING) head.append(make("span", "what", about.kinds[kind]));
      head.append(make("span", "status", STATUS[status]), make("span", "", label), make("span", "", where));
    }
    if (about.layers.length > 1 && place.leaks[0].status !== STRING) head.append(make("span", "", layer));
    const title = `${document}, ${phrase("characters {start} to {end}", { start, end: last + 1 })}`;
    head.append(...hand.begin(card, place, title));
    card.append(head);
    if (place.pieces.length) card.append(context(place.pieces, place.leaks.map((leak) => tipOf(layer, leak, start, last + 1))));
    if (place.exposed.length) card.append(make("p", "note", phrase("exposed: {ranges}", { ranges: place.exposed.map(([start, end]) => phrase("{start} to {end}", { start, end })).join(", ") })));
    if (place.siblings.length) card.append(others(place));
    card.append(decisions.controls(place, card, title));
    return card;
  }

  // --- filters ---------------------------------------------------------------------------------------------

  const kinds = page.tally(places.flatMap(({ leaks }) => [...new Set(leaks.map(({ kind, status }) => status === STRING ? STRING : String(kind)))]));
  const nameOf = (kind) => kind === STRING ? STATUS[STRING] : about.kinds[kind];
  page.fillFilter("kind", [...kinds].map(([kind, n]) => [`${nameOf(kind)} (${number(n)})`, kind]));
  const inPart = places.filter(({ leaks }) => leaks.some((leak) => leak.inPart)).length;
  page.fillFilter("entity", inPart ? [[`${phrase("masked elsewhere")} (${number(inPart)})`, "part"]] : [], 1);
  page.fillFilter("document", [...page.tally(places.map(({ at }) => at[0]))].map(([id, n]) => [`${id} (${number(n)})`, id]));

  const hand = page.filteredPlaces({
    places, cardOf, decisions,
    tests: {
      text: (place, text) => text.toLowerCase().split(/\s+/).every((word) => place.haystack.includes(word)),
      kind: ({ leaks }, kind) => leaks.some((leak) => kind === (leak.status === STRING ? STRING : String(leak.kind))),
      entity: ({ leaks }) => leaks.some((leak) => leak.inPart),
      document: ({ at }, id) => at[0] === id,
    },
    count: (found) => phrase("{found} of {n} place|{found} of {n} places", { found, n: places.length }),
    none: phrase("No place matches these filters."),
  });
  if (!hand.goTo()) hand.show();
  document.documentElement.dataset.ready = "yes";
})();
