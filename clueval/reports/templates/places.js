// The filters of a form, as `atHand` takes them; `fields` are its fields by name.
page.filtersOf = (fields) => ({
  values: () => [...fields].filter(([, field]) => field.value !== "").map(([name, field]) => [name, field.value]),
  set(values) {
    for (const field of fields.values()) field.value = "";
    for (const [name, value] of values) if (fields.has(name)) fields.get(name).value = value;
  },
});

// Set the options of a filter, each a text and a value, keeping what is chosen. With fewer than `least` it is hidden.
page.fillFilter = (name, options, least = 2) => {
  const field = page.byId("f-" + name), before = field.value;
  field.replaceChildren(new Option(page.phrase("all"), ""), ...options.map(([text, value]) => new Option(page.visible(text), value)));
  field.value = before;
  field.parentElement.hidden = options.length < least;
};

// The list of a page of places and the filters of its form. `tests` has, by the name of a field, whether a place fits its
// value; those of decisions are added. `count(n)` is the line above n places, `none` the text in place of no place.
// Returns what `atHand` does, and `show`, which lists the places that fit.
page.filteredPlaces = ({ places, tests, cardOf, decisions, count, none }) => {
  const { byId } = page;
  const all = { ...tests, done: decisions.fits, by: decisions.isBy };
  const fields = new Map(Object.keys(all).map((name) => [name, byId("f-" + name)]));
  let found = places;

  function show() {
    page.fillFilter("by", decisions.reviewers().map((name) => [name, name]));
    const active = [...fields].filter(([, field]) => field.value !== "");
    found = places.filter((place) => active.every(([name, field]) => all[name](place, field.value)));
    byId("count").textContent = count(found.length);
    list.show(found);
    hand.remember();
  }

  const list = page.pagedList(cardOf, () => none);
  const hand = page.atHand({
    places,
    shown: () => found,
    until: (index) => list.until(index),
    filters: page.filtersOf(fields),
    apply: show,
    keys: decisions.keysFor(() => hand),
  });
  page.fillFilter("done", Object.entries(decisions.FILTERS).map(([value, text]) => [text, value]));
  byId("filters").addEventListener("input", show);
  byId("filters").addEventListener("submit", (event) => event.preventDefault());
  return { ...hand, show };
};

// The place at hand in a list, its address, and keys. "#at:..." is a place, "#f:side=gold&class=missed" are filters, to
// which "at=..." adds a place. `filters.values()` returns the filters that are set, as pairs; `filters.set(pairs)` sets
// these and clears the others. `keys` are further keys and what they do.
page.atHand = ({ places, shown, until, filters, apply, keys }) => {
  const { byId, make, phrase } = page;
  let current = null;

  function address() {
    const values = new URLSearchParams(filters.values());
    if (![...values].length) return current ? "#" + current.anchor : "";
    if (current) values.set("at", current.anchor);
    return "#f:" + values;
  }

  function remember() {
    try { history.replaceState(null, "", address() || location.pathname + location.search); } catch { /* not allowed here */ }
  }

  // Show what the address asks for; without an address nothing is done, and false is returned.
  function goTo() {
    const hash = location.hash.slice(1);
    if (!hash.startsWith("f:") && !hash.startsWith("at:")) return false;
    let anchor = hash;
    if (hash.startsWith("f:")) {
      const values = new URLSearchParams(hash.slice(2));
      anchor = values.get("at");
      filters.set([...values]);
    }
    current = places.find((each) => each.anchor === anchor) ?? null;
    apply();
    if (!current) return true;
    if (!shown().includes(current)) {
      filters.set([]);
      apply();
    }
    bring(current);
    return true;
  }
  window.addEventListener("hashchange", goTo);

  function bring(place) {
    current = place;
    until(shown().indexOf(place));
    for (const card of document.querySelectorAll(".card.current")) card.classList.remove("current");
    const card = byId(place.anchor);
    card.classList.add("current");
    card.focus({ preventScroll: true });
    card.scrollIntoView({ block: "center", behavior: "instant" });
    remember();
  }

  // The beginning of a card: a link to it, and a button that copies the link.
  function begin(card, place, text) {
    card.id = place.anchor;
    card.tabIndex = -1;
    card.addEventListener("focusin", () => { current = place; });
    const where = make("a", "place", text), copy = make("button", "copy", phrase("Copy link"));
    where.href = "#" + place.anchor;
    copy.type = "button";
    copy.hidden = window.parent !== window;  // the address of a frame leads nowhere
    copy.addEventListener("click", async () => {
      current = place;
      remember();
      try { await navigator.clipboard.writeText(location.href); copy.textContent = phrase("Copied"); } catch { copy.textContent = phrase("The link is in the address bar"); }
    });
    return [where, copy];
  }

  function step(by) {
    const next = shown()[shown().indexOf(current) + (current === null && by < 0 ? 0 : by)];
    if (next) bring(next);
  }

  const inCurrent = (selector) => current && byId(current.anchor)?.querySelector(selector);

  const actions = {
    j: () => step(1),
    k: () => step(-1),
    "/": () => byId("f-text").focus(),
    "?": () => { const list = byId("keys"); list.open = !list.open; list.scrollIntoView({ block: "center" }); },
    0: () => { filters.set([]); apply(); },
    ...keys,
  };
  document.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const field = event.target.closest?.("input:not([type=checkbox], [type=radio]), select, textarea");
    if (field && event.key === "Escape") {
      field.blur();
      field.closest(".card")?.focus();
    }
    if (field) return;
    const action = actions[event.key];
    if (!action) return;
    event.preventDefault();
    action();
  });

  return { remember, goTo, begin, inCurrent, current: () => current };
};
