"use strict";
const pages = JSON.parse(document.getElementById("data").textContent);
const [field, found, count, contents] = ["query", "found", "count", "contents"].map((id) => document.getElementById(id));

const times = (text, word) => text.split(word).length - 1;

function rank(page, words) {
  const title = page.title.toLowerCase(), text = page.text.toLowerCase();
  if (!words.every((word) => title.includes(word) || text.includes(word))) return 0;
  return words.reduce((sum, word) => sum + 50 * times(title, word) + Math.min(times(text, word), 20), 0);
}

function around(page, word) {
  const place = Math.max(page.text.toLowerCase().indexOf(word), 0), start = Math.max(place - 60, 0);
  return (start ? "… " : "") + page.text.slice(start, start + 180) + " …";
}

function item(page, words) {
  const entry = document.createElement("li"), link = document.createElement("a"), excerpt = document.createElement("p");
  link.href = page.name + ".html";
  link.textContent = page.title;
  excerpt.textContent = around(page, words[0]);
  entry.append(link, excerpt);
  return entry;
}

function search() {
  const words = field.value.toLowerCase().split(/\s+/).filter(Boolean);
  const hits = pages.map((page) => [rank(page, words), page]).filter(([points]) => points && words.length);
  hits.sort((a, b) => b[0] - a[0]);
  found.replaceChildren(...hits.map(([, page]) => item(page, words)));
  count.textContent = words.length ? `${hits.length} page${hits.length === 1 ? "" : "s"}` : "";
  contents.hidden = words.length > 0;
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
