"use strict";
(() => {
  const COLUMNS = 1000;  // shown of one span at a time, because a span may be as long as its document
  const { byId, number, phrase, numbered, visible, put, make, ofCorpus, ofLength } = page;
  const count = byId("count"), search = byId("f-text");

  const RESULTS = {
    matched: { sign: "✓", words: phrase("matched") },
    "not-matched": { sign: "✗", words: phrase("not matched") },
    none: { sign: "○", words: phrase("no counterpart") },
  };

  // --- the data: a line opens a document, or is a gold span in the last one opened ----------------------------

  const spans = [];
  let home = "";
  for (const fields of page.lines()) {
    if (fields[0] === "d") {
      home = fields[1];
      continue;
    }
    const [, label, layer, gold, predicted, matched, distance, length, rate, pieces, opposite] = fields;
    const result = predicted === null ? "none" : matched ? "matched" : "not-matched";
    spans.push({
      label, layer, gold, predicted, distance, length, rate, pieces, opposite, result, document: home, haystack: null,
    });
  }

  const goldText = (span) => span.pieces.map((piece) => typeof piece === "string" ? piece : piece[0]).join("");
  const otherText = (span) => span.pieces.map((piece) => typeof piece === "string" ? piece : piece[1]).join("");

  function haystackOf(span) {
    if (span.haystack === null)
      span.haystack = [goldText(span), otherText(span), span.opposite ?? "", span.label, span.document].join("\n").toLowerCase();
    return span.haystack;
  }

  // --- characters ------------------------------------------------------------------------------------------

  // a character in a column of its own is seen, or its number is
  const UNSEEN = /^[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}\ufffe\uffff]$/u;
  const COMBINING = /^\p{M}/u;
  const BLANK = /^\p{Zs}$/u;
  const RIGHT_TO_LEFT = /[\p{Script=Hebrew}\p{Script=Arabic}\p{Script=Syriac}\p{Script=Thaana}\p{Script=Nko}]/u;

  const segmenter = typeof Intl.Segmenter === "function" ? new Intl.Segmenter(undefined, { granularity: "grapheme" }) : null;
  const clusters = (text) => segmenter ? Array.from(segmenter.segment(text), ({ segment }) => segment) : [...text];

  // Columns as [kind, gold, predicted]. Equal text stays together; each code point that
  // differs has a column of its own, so that the number of signs is the distance.
  function* columnsOf(pieces) {
    for (const piece of pieces) {
      if (typeof piece === "string") {
        for (const cluster of clusters(piece)) yield ["equal", cluster, cluster];
        continue;
      }
      const own = [...piece[0]], other = [...piece[1]];
      for (let i = 0; i < Math.max(own.length, other.length); i++) {
        const kind = i >= other.length ? "only-gold" : i >= own.length ? "only-predicted" : "replaced";
        yield [kind, own[i] ?? "", other[i] ?? ""];
      }
    }
  }

  const SIGNS = { equal: "", replaced: "≠", "only-gold": "−", "only-predicted": "+" };

  function cell(css, character) {
    if (character === " ") return make("span", css + " blank", "␣");
    if (BLANK.test(character)) return make("span", css + " blank control", numbered(character));
    const box = make("span", css);
    if (UNSEEN.test(character)) box.append(make("span", "control", numbered(character)));
    else if (COMBINING.test(character)) box.append(make("span", "alone", "◌" + character));
    else put(box, character);
    return box;
  }

  function column([kind, own, other]) {
    const made = make("span", "column " + kind);
    const mark = make("span", "mark");
    mark.textContent = SIGNS[kind];
    // characters that look alike are distinguished by their numbers
    if (kind !== "equal") made.title = [own, other].map((character) => character ? numbered(character) : phrase("nothing")).join(" → ");
    made.append(cell("of-gold", own), mark, cell("of-predicted", other));
    return made;
  }

  // --- filters ---------------------------------------------------------------------------------------------

  const filters = {};

  function addFilter(name, values, words, of) {
    const select = byId("f-" + name);
    const counts = new Map(values.map((value) => [value, 0]));
    for (const span of spans) counts.set(of(span), (counts.get(of(span)) ?? 0) + 1);
    select.append(new Option(phrase("all"), ""));
    // the values are numbered, because a label may be empty
    const known = [...counts.keys()];
    if (!values.length) known.sort();
    known.forEach((value, n) => select.append(new Option(`${visible(words(value))} (${number(counts.get(value))})`, String(n))));
    select.addEventListener("change", apply);
    filters[name] = { select, fits: (span) => select.value === "" || of(span) === known[Number(select.value)] };
    return known.length;
  }

  addFilter("result", Object.keys(RESULTS), (value) => RESULTS[value].words, (span) => span.result);
  addFilter("label", [], (value) => value, (span) => span.label);
  byId("f-layer").parentElement.hidden = addFilter("layer", [], (value) => value, (span) => span.layer) < 2;

  byId("filters").addEventListener("submit", (event) => event.preventDefault());
  byId("reset").addEventListener("click", () => {
    search.value = "";
    for (const { select } of Object.values(filters)) select.value = "";
    apply();
  });
  let waiting = 0;
  search.addEventListener("input", () => {
    clearTimeout(waiting);
    waiting = setTimeout(apply, 80);
  });

  let shown = spans;

  function apply() {
    const words = search.value.toLowerCase().split(/\s+/).filter(Boolean);
    const tests = Object.values(filters);
    shown = spans.filter((span) => tests.every(({ fits }) => fits(span)) &&
      (words.length === 0 || words.every((word) => haystackOf(span).includes(word))));
    list.show(shown);
    tellCount();
  }

  function tellCount() {
    const strong = document.createElement("b");
    strong.textContent = number(shown.length);
    const whole = shown.length === spans.length ? "" : " " + phrase("of {all}", { all: spans.length });
    const parts = Object.entries(RESULTS).map(([result, { words }]) =>
      `${number(shown.filter((span) => span.result === result).length)} ${words}`);
    count.replaceChildren(strong, `${whole} ${phrase(spans.length === 1 ? "gold span" : "gold spans")}: ${parts.join(", ")}`);
  }

  // --- the list --------------------------------------------------------------------------------------------

  const range = (side, ends) => ends === null ? "" : `${phrase(side)} [${ends[0]},${ends[1]})`;

  const tipOf = (span, side, ends) => `${phrase(side)} · ${span.layer} ${span.label} · [${ends[0]},${ends[1]}) · ${RESULTS[span.result].words}`;

  function aligned(span, rightToLeft) {
    const box = make("div", "aligned");
    const rail = make("div", "rail");
    const other = make("span", "predicted", phrase(span.result === "none" ? "opposite" : "predicted"));
    const own = make("span", "gold", phrase("gold"));
    page.tip(own, tipOf(span, "gold", span.gold));
    if (span.predicted !== null) page.tip(other, tipOf(span, "predicted", span.predicted));
    own.dataset.where = phrase("above");
    other.dataset.where = phrase("below");
    rail.append(own, make("span"), other);
    const columns = make("div", "columns");
    box.dir = rightToLeft ? "rtl" : "ltr";
    box.setAttribute("aria-hidden", "true");
    box.append(rail, columns);
    const longer = make("button", "longer");
    longer.type = "button";
    const rest = columnsOf(span.pieces);
    let next = rest.next();
    const extend = () => {
      const made = [];
      for (; !next.done && made.length < COLUMNS; next = rest.next()) made.push(column(next.value));
      columns.append(...made);
      longer.hidden = next.done;
      longer.textContent = phrase("The texts go on: {number} columns are shown. Show more", { number: columns.childElementCount });
    };
    longer.addEventListener("click", extend);
    extend();
    return [box, longer];
  }

  function texts(css, span) {  // both texts, as they are written and for screen readers
    const line = make("p", css);
    const other = phrase(span.result === "none" ? "opposite" : "predicted");
    for (const [side, text, ends, name] of [[`${phrase("gold")}: `, goldText(span), span.gold, "gold"], [` · ${other}: `, otherText(span), span.predicted, "predicted"]]) {
      const shown = ofCorpus(make("bdi", "", text));
      if (ends !== null) page.tip(shown, tipOf(span, name, ends));
      line.append(make("span", "", side), shown);
    }
    return line;
  }

  function card(span) {
    const item = make("li", "card " + span.result);
    const head = make("div", "head");
    const { sign, words } = RESULTS[span.result];
    head.append(make("span", "result " + span.result, `${sign} ${words}`), make("bdi", "label", span.label));
    if (span.result !== "none") {
      const rate = span.rate === null ? "" : ` = ${number(100 * span.rate, 2)} %`;
      head.append(make("span", "distance", `${phrase("distance")} ${number(span.distance)} / ${number(span.length)}${rate}`));
    }
    const place = make("span", "place");
    place.append(make("bdi", "", span.document), ` · ${[range("gold", span.gold), range("predicted", span.predicted)].filter(Boolean).join(" · ")}`);
    head.append(place);
    const rightToLeft = RIGHT_TO_LEFT.test(goldText(span));
    item.append(head, ...aligned(span, rightToLeft), texts(rightToLeft ? "written" : "unseen", span));
    if (span.opposite !== null) {
      const opposite = make("p", "opposite", phrase("The predicted text opposite the gold span:") + " ");
      opposite.append(phrase("“"), ofCorpus(make("bdi", "", span.opposite)), phrase("”"));
      item.append(ofLength(opposite, span.opposite.length));
    }
    return item;
  }

  const list = page.pagedList(card, () => spans.length ? phrase("No span matches these filters.") : phrase("No gold spans."));
  apply();
  document.documentElement.dataset.ready = "yes";
})();
