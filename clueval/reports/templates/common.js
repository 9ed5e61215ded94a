"use strict";
// What all pages share. Text from the corpus is put into the page with textContent, so it is never markup.
const page = (() => {
  const byId = (id) => document.getElementById(id);
  const number = (n) => n.toLocaleString("en");
  const many = (n, noun) => `${number(n)} ${noun}${n === 1 ? "" : "s"}`;

  // control characters and invisible ones are shown by their numbers
  const INVISIBLE = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u061c\u200b\u200e\u200f\u2028-\u202e\u2060-\u2069\ufeff\ufff9-\ufffb\ufffe\uffff]/;
  const EACH_INVISIBLE = new RegExp(INVISIBLE.source, "g");
  const numbered = (character) => "U+" + character.charCodeAt(0).toString(16).toUpperCase().padStart(4, "0");
  const visible = (text) => text.replace(EACH_INVISIBLE, numbered);

  function put(parent, text) {
    if (!INVISIBLE.test(text)) {
      parent.append(text);
      return;
    }
    for (const part of text.split(new RegExp(`(${INVISIBLE.source})`))) {
      if (part.length === 1 && INVISIBLE.test(part)) {
        const box = make("span", "control");
        box.textContent = numbered(part);
        parent.append(box);
      } else if (part) parent.append(part);
    }
  }

  function make(name, css, text) {
    const element = document.createElement(name);
    if (css) element.className = css;
    if (text !== undefined) put(element, text);
    return element;
  }

  function tally(values) {
    const counts = new Map();
    for (const value of values) counts.set(value, (counts.get(value) ?? 0) + 1);
    return counts;
  }

  const lines = () => byId("data").textContent.split("\n").filter((line) => line.trim()).map((line) => JSON.parse(line));

  // A list that is extended when its end is near; `cardOf` makes the card of a value.
  function pagedList(cardOf, empty, size = 50) {
    const list = byId("list"), more = byId("more");
    let values = [], rendered = 0;
    function extend() {
      const next = values.slice(rendered, rendered + size);
      list.append(...next.map(cardOf));
      rendered += next.length;
      if (!values.length) list.append(make("li", "empty", empty()));
      more.hidden = rendered >= values.length;
      more.textContent = `Show more (${number(values.length - rendered)} left)`;
    }
    more.addEventListener("click", extend);
    new IntersectionObserver((entries) => {
      if (entries.some((entry) => entry.isIntersecting) && !more.hidden) extend();
    }, { rootMargin: "600px" }).observe(more);
    window.addEventListener("beforeprint", () => { while (rendered < Math.min(values.length, 1000)) extend(); });
    return {
      show(chosen) { values = chosen; rendered = 0; list.replaceChildren(); extend(); },
      until(index) { while (rendered <= index && rendered < values.length) extend(); },
    };
  }

  // folded parts are printed as well
  window.addEventListener("beforeprint", () => { for (const part of document.querySelectorAll("details")) part.open = true; });

  return { byId, number, many, visible, put, make, tally, lines, pagedList };
})();
