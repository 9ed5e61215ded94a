// The filters of a form, as `atHand` takes them; `fields` are its fields by name.
page.filtersOf = (fields) => ({
  values: () => [...fields].filter(([, field]) => field.value !== "").map(([name, field]) => [name, field.value]),
  set(values) {
    for (const field of fields.values()) field.value = "";
    for (const [name, value] of values) if (fields.has(name)) fields.get(name).value = value;
  },
});

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
