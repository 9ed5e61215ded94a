"use strict";
const pages = JSON.parse(document.getElementById("data").textContent);
const [field, found, count, contents] = ["query", "found", "count", "contents"].map((id) => document.getElementById(id));

// The search is that of the command "clueval guide WORD", in clueval/guide/pages.py; see there.
const plain = (text) => text.toLowerCase().replaceAll("z", "s").replaceAll("ll", "l").replaceAll("our", "or");
const begins = (word) => new RegExp("(?<![\\p{L}\\p{N}_])" + word, "gu");
const has = (text, word) => text.search(begins(word)) >= 0;

const searched = pages.map((page) => {
  const heading = plain([page.name, page.title, page.words].join(" "));
  return { page, heading, summary: plain(page.summary), text: heading + " " + plain(page.text) };
});
const every = [...new Set(searched.flatMap(({ text }) => text.match(/[\p{L}\p{N}_]{4,}/gu)))].sort();

function similarity(word, other) {
  const [pairs, others] = [word, other].map((each) => new Set(Array.from(each.slice(1), (letter, at) => each[at] + letter)));
  const common = [...pairs].filter((pair) => others.has(pair)).length;
  return 2 * common / Math.max(pairs.size + others.size, 1);
}

function wanted(query) {
  const weights = new Map();
  for (const asked of plain(query).match(/[\p{L}\p{N}_]+/gu) || []) {
    let word = asked.length > 3 ? asked.replace(/s$/, "") : asked;
    const number = () => searched.filter(({ text }) => has(text, word)).length;
    if (!number()) {
      const near = every.reduce((best, other) => (similarity(asked, other) > similarity(asked, best) ? other : best), "");
      if (similarity(asked, near) < 0.6) continue;
      word = near;
    }
    weights.set(word, Math.log(1 + pages.length / number()));
  }
  return weights;
}

function points({ page, heading, summary, text }, weights) {
  let sum = 0;
  for (const [word, weight] of weights) {
    const often = Math.min((text.match(begins(word)) || []).length, 7);
    sum += weight * (8 * has(heading, word) + 3 * has(summary, word) + Math.log2(1 + often));
  }
  return page.name.startsWith("reference") ? sum / 2 : sum;
}

function around(page, words) {
  const text = plain(page.text), place = Math.max(0, ...words.map((word) => text.search(begins(word))));
  const start = Math.max(place - 60, 0);
  return (start ? "… " : "") + page.text.slice(start, start + 180) + " …";
}

function item(page, words) {
  const entry = document.createElement("li"), link = document.createElement("a"), excerpt = document.createElement("p");
  link.href = page.name + ".html";
  link.textContent = page.title;
  excerpt.textContent = around(page, words);
  entry.append(link, excerpt);
  return entry;
}

function search() {
  const weights = wanted(field.value), words = [...weights.keys()];
  const hits = searched.map((each) => [points(each, weights), each.page]).filter(([sum]) => sum);
  hits.sort((a, b) => b[0] - a[0]);
  found.replaceChildren(...hits.map(([, page]) => item(page, words)));
  const asked = field.value.trim() !== "";
  count.textContent = asked ? `${hits.length} page${hits.length === 1 ? "" : "s, the best first"}` : "";
  contents.hidden = asked;
}

function typed() {
  history.replaceState(null, "", field.value ? "#q=" + encodeURIComponent(field.value) : location.pathname);
  search();
}

function addressed() {
  if (location.hash.startsWith("#q=")) field.value = decodeURIComponent(location.hash.slice(3));
  search();
}

document.getElementById("search").hidden = false;
field.addEventListener("input", typed);
addEventListener("hashchange", addressed);
addressed();
field.focus();
document.documentElement.dataset.ready = "yes";
