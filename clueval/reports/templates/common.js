"use strict";
// What all pages share. Text from the corpus is put into the page with textContent, so it is never markup.
const page = (() => {
  const byId = (id) => document.getElementById(id);
  const language = document.documentElement.lang;
  const number = (n, digits = 0) => n.toLocaleString(language, { minimumFractionDigits: digits, maximumFractionDigits: digits });

  // A text in the language of the page, as clueval/reports/language.py describes it; numbers are written in its manner.
  const texts = JSON.parse(byId("texts")?.textContent ?? "{}");
  function phrase(text, values = {}) {
    const [singular, plural] = "n" in values ? (texts[text] ?? text).split("|") : [texts[text] ?? text];
    return (values.n === 1 ? singular : plural ?? singular).replace(/\{(\w+)\}/g, (_, name) => typeof values[name] === "number" ? number(values[name]) : values[name]);
  }

  // characters that steer text or are no characters are shown by their numbers, except line feeds and tabs;
  // clueval/visible.py has the same list
  const STEERING = "[\\u0000-\\u0008\\u000b-\\u001f\\u007f-\\u009f\\u061c\\u200b\\u200e\\u200f\\u2028-\\u202e\\u2060-\\u206f" +
    "\\ufeff\\ufff9-\\ufffb\\ufffe\\uffff\\u{e0000}-\\u{e00ff}\\ud800-\\udfff]";
  const INVISIBLE = new RegExp(STEERING, "u"), EACH_INVISIBLE = new RegExp(STEERING, "gu"), PARTS = new RegExp(`(${STEERING})`, "u");
  const numbered = (character) => "U+" + character.codePointAt(0).toString(16).toUpperCase().padStart(4, "0");
  const visible = (text) => text.replace(EACH_INVISIBLE, numbered);

  function put(parent, text) {
    if (!INVISIBLE.test(text)) {
      parent.append(text);
      return;
    }
    text.split(PARTS).forEach((part, n) => {
      if (n % 2) parent.append(make("span", "control", numbered(part)));
      else if (part) parent.append(part);
    });
  }

  function make(name, css, text) {
    const element = document.createElement(name);
    if (css) element.className = css;
    if (text !== undefined) put(element, text);
    return element;
  }

  // A tooltip; one that can be reached by the keyboard is shown there, too.
  function tip(element, text, reachable) {
    element.title = visible(text);
    if (reachable) {
      element.classList.add("tip");
      element.tabIndex = 0;
    }
    return element;
  }

  // Text of the corpus has its language; the empty one is unknown.
  function ofCorpus(element) {
    element.lang = document.documentElement.dataset.lang ?? "";
    return element;
  }

  // Long text scrolls, and can be scrolled with the keyboard.
  const LONG = 600;
  function ofLength(element, length) {
    if (length > LONG) {
      element.classList.add("long");
      element.tabIndex = 0;
    }
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
      more.textContent = phrase("Show more ({number} left)", { number: values.length - rendered });
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

  // what needs a script is hidden without one
  for (const part of document.querySelectorAll("#filters, #keys")) part.hidden = false;

  // folded parts are printed as well
  window.addEventListener("beforeprint", () => { for (const part of document.querySelectorAll("details")) part.open = true; });

  return { byId, language, number, phrase, numbered, visible, put, make, tip, ofCorpus, ofLength, tally, lines, pagedList };
})();
