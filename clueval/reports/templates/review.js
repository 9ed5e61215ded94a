// Ticks and comments at the places of a list. The browser keeps them, if it allows that; they can be exported and imported.
page.reviews = (key, places) => {
  const { byId, make, many, number, visible } = page;
  const COLUMNS = ["id", "document", "start", "end", "unit", "reviewed", "comment"];
  const notes = new Map();  // id of a card -> {done, comment}
  const storage = "clueval reviews " + key;

  function take(saved) {
    for (const [id, { done, comment }] of saved) {
      if (done || comment) notes.set(id, { done: Boolean(done), comment: String(comment ?? "") });
      else notes.delete(id);
    }
  }
  try { take(Object.entries(JSON.parse(localStorage.getItem(storage) ?? "{}"))); } catch { /* not allowed, or not ours */ }

  function keep() {
    try { localStorage.setItem(storage, JSON.stringify(Object.fromEntries(notes))); } catch { /* not allowed here */ }
    tell();
  }

  const of = (place) => notes.get(place.anchor) ?? { done: false, comment: "" };
  function set(place, change) {
    take([[place.anchor, { ...of(place), ...change }]]);
    keep();
  }

  function tell(extra = "") {
    const here = places.map(of), done = here.filter((note) => note.done).length;
    const comments = here.filter((note) => note.comment).length;
    byId("reviewed").textContent = `${number(done)} of ${many(places.length, "place")} reviewed, ${many(comments, "comment")}${extra}`;
  }

  function controls(place) {
    const row = make("div", "review"), label = make("label"), tick = make("input"), comment = make("input", "comment");
    tick.type = "checkbox";
    comment.type = "text";
    comment.placeholder = "Comment";
    comment.maxLength = 2000;
    comment.setAttribute("aria-label", visible(`Comment on ${place.home.id}, ${place.unit} ${place.start} to ${place.end}`));
    tick.checked = of(place).done;
    comment.value = of(place).comment;
    const settle = () => row.parentElement?.classList.toggle("done", tick.checked);
    tick.addEventListener("change", () => { set(place, { done: tick.checked }); settle(); });
    comment.addEventListener("input", () => set(place, { comment: comment.value.trim() }));
    comment.addEventListener("keydown", (event) => {
      if (event.key === "Enter" || event.key === "Escape") row.parentElement.focus();
    });
    label.append(tick, "Reviewed");
    row.append(label, comment);
    queueMicrotask(settle);
    return row;
  }

  // --- files ---

  const rows = () => places.filter((place) => notes.has(place.anchor)).map((place) => ({
    id: place.anchor, document: place.home.id, start: place.start, end: place.end, unit: place.unit,
    reviewed: of(place).done, comment: of(place).comment,
  }));
  // a cell that a spreadsheet would run as a formula begins with an apostrophe
  const cell = (value) => String(value).replace(/[\t\r\n]+/g, " ").replace(/^(?='*[=+\-@])/, "'");
  const plain = (text) => text.replace(/^'(?='*[=+\-@])/, "");
  const asTable = () => [COLUMNS, ...rows().map((row) => COLUMNS.map((name) => name === "reviewed" ? (row.reviewed ? "yes" : "") : cell(row[name])))]
    .map((cells) => cells.join("\t") + "\n").join("");

  function download(name, type, text) {
    const link = make("a"), address = URL.createObjectURL(new Blob([text], { type }));
    link.href = address;
    link.download = name;
    link.click();
    setTimeout(() => URL.revokeObjectURL(address), 10000);
  }
  byId("export-tsv").addEventListener("click", () => download("reviews.tsv", "text/tab-separated-values", asTable()));
  byId("export-json").addEventListener("click", () => download("reviews.json", "application/json", JSON.stringify(rows(), null, 1) + "\n"));

  function parsed(text) {
    if (text.trimStart().startsWith("[")) return JSON.parse(text).map((row) => [row.id, { done: row.reviewed, comment: row.comment }]);
    const [head, ...lines] = text.replace(/^\ufeff/, "").split(/\r?\n/).filter((line) => line.trim()).map((line) => line.split("\t"));
    const [id, reviewed, comment] = ["id", "reviewed", "comment"].map((name) => head.indexOf(name));
    if (id < 0) throw new Error("no column id");
    return lines.map((cells) => [cells[id], { done: Boolean(cells[reviewed]?.trim()), comment: plain(cells[comment] ?? "") }]);
  }
  const file = byId("import");
  byId("import-button").addEventListener("click", () => file.click());
  file.addEventListener("change", async () => {
    if (!file.files.length) return;
    let found;
    try { found = parsed(await file.files[0].text()).filter(([id]) => typeof id === "string"); } catch {
      tell("; the file is not a table or list that this page exports");
      return;
    } finally { file.value = ""; }
    take(found);
    keep();
    const known = new Set(places.map((place) => place.anchor)), here = found.filter(([id]) => known.has(id)).length;
    const others = found.length - here;
    tell(`; ${number(here)} imported${others ? `, ${number(others)} of other places` : ""}`);
    document.dispatchEvent(new Event("reviews"));
  });
  byId("forget").addEventListener("click", () => {
    if (!notes.size || !confirm("Forget all ticks and comments on this page?")) return;
    for (const place of places) notes.delete(place.anchor);
    keep();
    document.dispatchEvent(new Event("reviews"));
  });

  byId("reviews").hidden = !places.length;
  tell();
  return { of, controls };
};
