// Decisions about the places of a list, by one or several reviewers; clueval/findings/decisions.py has the same rules.
// The browser keeps the lines of the file under the name `store`, if it allows that; `given` are lines that the page has. A place has `at` (document, layer,
// start, last position) and a fingerprint. `options(place)` returns what can be chosen: `value`, `title`, `what` (an element
// or nothing) and `off` (why it cannot be chosen here, or nothing). `known` has all choices with their names on the page; `changed` is called after an
// import, and when lines are forgotten or the reviewer is another one.
page.decisions = ({ store, given = [], places, options, known, changed }) => {
  const { byId, make, number, phrase, visible } = page;
  const COLUMNS = ["document", "layer", "start", "end_inclusive", "fingerprint", "choice", "comment", "reviewer", "time"];
  const STORE = "clueval decisions " + store, NAME = "clueval reviewer", ANY_LAYER = "*";
  const FILTERS = {
    decided: phrase("decided"), undecided: phrase("undecided"), stale: phrase("stale"), conflict: phrase("conflict"), comment: phrase("with a comment"),
  };
  let keeps = true, lacks = false;  // whether the browser keeps decisions, and whether leaving the page would lose some
  const keep = (name, text) => { try { localStorage.setItem(name, text); return true; } catch { return false; } };
  const kept = (name) => { try { return localStorage.getItem(name); } catch { keeps = false; return null; } };
  window.addEventListener("beforeunload", (event) => { if (lacks) event.preventDefault(); });

  // --- lines -----------------------------------------------------------------------------------------------

  const keyOf = (at) => JSON.stringify(at);
  const keyOfLine = (line) => keyOf([line.document, line.layer, line.start, line.end_inclusive]);
  const keysOf = ({ at: [document, layer, ...range] }) => [...new Set([layer, ANY_LAYER])].map((each) => keyOf([document, each, ...range]));
  const byText = (one, other) => one < other ? -1 : one > other ? 1 : 0;
  const ORDER = ["document", "start", "end_inclusive", "layer", "time", "reviewer", "choice", "comment"];
  const inOrder = (one, other) => ORDER.reduce((found, name) => found || byText(one[name], other[name]), 0);
  const byTime = (one, other) => byText(one.time, other.time) || inOrder(one, other);
  const equal = (line) => JSON.stringify(Object.keys(line).sort().map((name) => [name, line[name]]));
  const isLine = (line) => line !== null && typeof line === "object" && COLUMNS.every((name) => typeof line[name] === (name === "start" || name === "end_inclusive" ? "number" : "string"));

  let lines = [], byKey = new Map(), states = new Map();
  const onPage = new Set(places.flatMap(keysOf));

  function use(found) {
    lines = [...new Map(found.map((line) => [equal(line), line])).values()].sort(inOrder);
    byKey = new Map();
    for (const line of lines) {
      if (byKey.has(keyOfLine(line))) byKey.get(keyOfLine(line)).push(line);
      else byKey.set(keyOfLine(line), [line]);
    }
    states = new Map();
  }
  function read() {  // another page of the same sides may have added lines
    const text = kept(STORE);
    let found = [];
    try { found = JSON.parse(text ?? "[]").filter(isLine); } catch { /* it is not ours */ }
    if (text !== null || !lines.length) use([...given, ...found]);
  }
  function write(found) {
    use(found);
    keeps = keep(STORE, JSON.stringify(lines));
    lacks = !keeps && lines.length > 0;
    tell();
  }

  // Of each reviewer the latest line counts; lines that were confirmed end a conflict.
  function settled(found) {
    const latest = new Map();
    let confirmed = [];
    const after = (before, line) => before.at(-1)?.time === line.time ? [...before, line] : [line];
    for (const line of found) {
      latest.set(line.reviewer, after(latest.get(line.reviewer) ?? [], line));
      if (line.confirmed) confirmed = after(confirmed, line);
    }
    return confirmed.length ? confirmed : [...latest.values()].flat().sort(byTime);
  }

  function of(place) {
    if (!states.has(place)) states.set(place, stateOf(place));
    return states.get(place);
  }
  function stateOf(place) {
    const found = keysOf(place).flatMap((key) => byKey.get(key) ?? []).sort(byTime);
    const chosen = found.filter((line) => line.choice);
    const current = chosen.filter((line) => line.fingerprint === place.fingerprint);
    const latest = settled(current.length ? current : chosen);
    const state = !latest.length ? "undecided" : !current.length ? "stale" : new Set(latest.map((line) => line.choice)).size > 1 ? "conflict" : "decided";
    return { state, found, latest, choice: state === "decided" ? latest[0].choice : "" };
  }

  // --- the reviewer, and his or her lines ------------------------------------------------------------------

  const name = byId("reviewer");
  name.value = kept(NAME) ?? "";
  name.addEventListener("change", () => { keep(NAME, me()); tell(); changed(); });
  const me = () => name.value.trim();
  const isOwn = (place) => (line) => line.reviewer === me() && line.fingerprint === place.fingerprint && keyOfLine(line) === keyOf(place.at);
  const ownOf = (place) => of(place).found.find(isOwn(place));

  function put(place, change) {
    read();
    const [document, layer, start, end_inclusive] = place.at;
    const blank = { document, layer, start, end_inclusive, fingerprint: place.fingerprint, choice: "", comment: "" };
    const { confirmed, ...own } = lines.find(isOwn(place)) ?? blank;
    const line = { ...own, ...change, reviewer: me(), time: new Date().toISOString().slice(0, 19) + "Z" };
    const others = of(place).found.filter((each) => each.choice && each.fingerprint === place.fingerprint && each.reviewer !== me());
    if (line.choice && (confirmed || others.some((each) => each.choice !== line.choice))) line.confirmed = "yes";
    const rest = lines.filter((each) => !isOwn(place)(each));
    write(line.choice || line.comment ? [...rest, line] : rest);
    if (!me()) tell(phrase("; give your name, so that others see who has decided"));
  }

  const choose = (place, value) => put(place, { choice: ownOf(place)?.choice === value ? "" : value });  // again: taken back

  // --- what the page says ----------------------------------------------------------------------------------

  const numbers = () => page.tally(places.map((place) => of(place).state));
  const namesOnPage = () => [...new Set([...byKey].filter(([key]) => onPage.has(key)).flatMap(([, found]) => found.map((line) => line.reviewer)).filter(Boolean))].sort(byText);
  const lost = () => [...byKey].filter(([key]) => !onPage.has(key));
  function tell(extra = "") {
    const counts = numbers(), gone = lost();
    const parts = [phrase("{decided} of {n} place decided|{decided} of {n} places decided", { decided: counts.get("decided") ?? 0, n: places.length })];
    for (const [state, words] of [["stale", phrase("stale")], ["conflict", phrase("in conflict")]]) if (counts.has(state)) parts.push(`${number(counts.get(state))} ${words}`);
    if (gone.length) parts.push(`${number(gone.length)} ${phrase("lost")}`);
    if (!keeps) parts.push(phrase("this page does not keep them: export them"));
    byId("decided").textContent = visible(parts.join("; ") + extra);
    const signed = byId("signed"), open = places.length - (counts.get("decided") ?? 0);
    if (signed) signed.textContent = visible(phrase("{said}; {open} not decided; reviewers: {names}", { said: parts.join("; "), open, names: namesOnPage().join(", ") || phrase("none named") }));
    byId("lost").hidden = !gone.length;
    byId("lost-list").replaceChildren(...gone.slice(0, 200).map(([, found]) => {
      const { document, layer, start, end_inclusive } = found[0];
      return make("li", "", `${document} ${layer} ${start}–${end_inclusive}: ${found.map(said).join("; ")}`);
    }));
  }
  const titleOf = (choice) => known.get(choice) ?? choice;
  const timeOf = ({ time }) => page.language === "en" || Number.isNaN(Date.parse(time)) ? time
    : `${new Date(time).toLocaleString(page.language, { dateStyle: "medium", timeStyle: "medium", timeZone: "UTC" })} UTC`;
  const by = (line) => [line.reviewer || phrase("no name"), timeOf(line)].filter(Boolean).join(", ");
  const said = (line) => `${titleOf(line.choice) || "–"} (${by(line)})${line.comment ? " " + phrase("“") + line.comment + phrase("”") : ""}`;

  function remarks(place) {
    const { state, found, latest } = of(place), list = make("ul", "said");
    if (state === "stale") list.append(make("li", "", phrase("stale: {said}; the spans here have changed, so it does not apply", { said: latest.map(said).join("; ") })));
    if (state === "conflict") list.append(make("li", "", phrase("conflict: {said}; choose one to confirm it", { said: latest.map(said).join("; ") })));
    if (state === "decided") {
      const others = latest.filter((line) => line.reviewer !== me());
      if (others.length) list.append(make("li", "", others.map((line) => `${titleOf(line.choice)} (${by(line)})`).join("; ")));
    }
    const own = ownOf(place);
    for (const line of found) if (line !== own && line.comment && state !== "stale" && state !== "conflict") list.append(make("li", "", `${line.reviewer || phrase("no name")}: ${line.comment}`));
    return list;
  }

  // The choices of a place, what others have said, and the field for a comment; `settle` marks the card.
  function controls(place, card, title) {
    const row = make("div", "review"), group = make("fieldset", "readings"), comment = make("input", "comment");
    let list = make("ul");
    const shown = options(place).map(({ value, title, what, off }, n) => {
      const line = make("label", off ? "reading off" : "reading"), input = make("input");
      input.type = "radio";
      input.name = "place-" + places.indexOf(place);
      input.value = value;
      input.disabled = Boolean(off);
      input.addEventListener("click", () => { choose(place, value); settle(); });
      const who = make("span", "who", title);
      if (n < 9) who.prepend(make("kbd", "", String(n + 1)), " ");
      line.append(input, who, ...(what ? [what] : []));
      group.append(line);
      return input;
    });
    function settle() {
      const { state, choice } = of(place);
      for (const input of shown) input.checked = input.value === choice;
      const now = remarks(place);
      list.replaceWith(now);
      list = now;
      card.classList.toggle("done", state === "decided");
    }
    group.prepend(make("legend", "unseen", title));
    group.classList.toggle("short", !group.querySelector(".what"));
    comment.type = "text";
    comment.placeholder = phrase("Comment");
    comment.maxLength = 2000;
    comment.setAttribute("aria-label", visible(`${phrase("Comment")}: ${title}`));
    comment.value = ownOf(place)?.comment ?? "";
    comment.addEventListener("input", () => { put(place, { comment: comment.value.trim() }); settle(); });
    comment.addEventListener("keydown", (event) => { if (event.key === "Enter") card.focus(); });
    row.append(group, list, comment);
    settle();
    return row;
  }

  // --- filters ---------------------------------------------------------------------------------------------

  const reviewers = () => [...new Set(lines.map((line) => line.reviewer).filter(Boolean))].sort(byText);
  const fits = (place, filter) => filter === "comment" ? of(place).found.some((line) => line.comment) : of(place).state === filter;
  const isBy = (place, reviewer) => of(place).found.some((line) => line.reviewer === reviewer);

  // --- files -----------------------------------------------------------------------------------------------

  // a cell that a spreadsheet would run as a formula begins with an apostrophe
  const cell = (value) => String(value ?? "").replace(/[\t\r\n]+/g, " ").replace(/^(?='*[=+\-@])/, "'");
  const plain = (text) => text.replace(/^'(?='*[=+\-@])/, "");
  const names = () => [...new Set([...COLUMNS, ...lines.flatMap(Object.keys)])];
  const asTable = () => [names(), ...lines.map((line) => names().map((name) => typeof line[name] === "number" ? line[name] : cell(line[name])))]
    .map((cells) => cells.join("\t") + "\n").join("");

  function download(name, type, text) {
    const link = make("a"), address = URL.createObjectURL(new Blob([text], { type }));
    link.href = address;
    link.download = name;
    link.click();
    setTimeout(() => URL.revokeObjectURL(address), 10000);
    lacks = false;
  }
  byId("export-tsv").addEventListener("click", () => download("decisions.tsv", "text/tab-separated-values", asTable()));
  byId("export-json").addEventListener("click", () => download("decisions.json", "application/json", JSON.stringify(lines, null, 1) + "\n"));

  function rowsOf(text) {
    if (/^\s*\[/.test(text)) return JSON.parse(text).map((row, n) => [n + 1, row]);
    const [head, ...rest] = text.replace(/^\ufeff/, "").split(/\r?\n/).map((line, n) => [n + 1, line.split("\t")]).filter(([, cells]) => cells.join("").trim());
    return rest.map(([n, cells]) => [n, Object.fromEntries(head[1].map((name, column) => [name.trim(), plain(cells[column] ?? "")]))]);
  }
  function lineOf([n, row]) {
    const missing = ["document", "start", "end_inclusive", "fingerprint", "choice"].find((each) => row[each] === undefined);
    if (missing) throw new Error(phrase("line {number} has no {column}", { number: n, column: missing }));
    const line = Object.fromEntries(Object.entries(row).map(([name, value]) => [name, String(value ?? "")]).filter(([name, value]) => value || COLUMNS.includes(name)));
    for (const each of ["start", "end_inclusive"]) {
      if (!/^(-1|\d{1,15})$/.test(line[each])) throw new Error(phrase("line {number}: {column} is no position", { number: n, column: each }));
      line[each] = Number(line[each]);
    }
    if (line.choice && !known.has(line.choice)) throw new Error(phrase("line {number}: the choice “{choice}” is unknown here", { number: n, choice: line.choice.slice(0, 40) }));
    for (const each of COLUMNS) line[each] ??= "";
    return { ...line, layer: line.layer || ANY_LAYER };
  }
  const file = byId("import");
  byId("import-button").addEventListener("click", () => file.click());
  file.addEventListener("change", async () => {
    if (!file.files.length) return;
    let found;
    try { found = rowsOf(await file.files[0].text()).map(lineOf); } catch (error) {
      tell(phrase("; nothing was imported: {why}", { why: error instanceof SyntaxError ? phrase("the file is no JSON") : error.message }));
      return;
    } finally { file.value = ""; }
    read();
    const before = lines.length;
    write([...lines, ...found]);
    changed();
    tell(phrase("; {n} line imported|; {n} lines imported", { n: lines.length - before }));
  });
  byId("forget").addEventListener("click", () => {
    if (!lines.length || !confirm(phrase("Forget all decisions and comments of this page ({n} line)?|Forget all decisions and comments of this page ({n} lines)?", { n: lines.length }))) return;
    given = [];
    write([]);
    changed();
  });

  // --- keys ------------------------------------------------------------------------------------------------

  const keysFor = (hand) => ({
    ...Object.fromEntries([...Array(9).keys()].map((n) => [n + 1, () => {
      const option = hand().current() && options(hand().current())[n];
      if (option?.off) tell(`; ${option.off}`);
      else if (option) hand().inCurrent(`.reading:nth-of-type(${n + 1}) input`)?.click();
    }])),
    c: () => hand().inCurrent(".comment")?.focus(),
  });

  read();
  byId("decisions").hidden = !places.length;
  tell();
  return { of, controls, fits, isBy, reviewers, FILTERS, keysFor };
};
