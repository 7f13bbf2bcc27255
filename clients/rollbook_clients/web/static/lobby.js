// Keeps the lobby up to date: the list of tables, their small drawings and scores, clocks and dates.
import { patch } from "./patch.js";
import "./press.js";
import { follow } from "./stream.js";

const language = document.documentElement.lang;
const list = document.getElementById("lobby");

if (list) {
  follow(list, {
    take(fresh) {
      patch(document.getElementById("tables"), fresh);
      for (const news of fresh.querySelectorAll("[data-news]")) document.getElementById(news.dataset.news)?.replaceChildren(...news.cloneNode(true).childNodes);
    },
  });
}

/** Dates in the time zone of the browser; the page has them in that of its server. */
function showDates() {
  const days = new Intl.RelativeTimeFormat(language, { numeric: "auto" });
  const midnight = (date) => new Date(date).setHours(0, 0, 0, 0);
  for (const each of document.querySelectorAll("time")) {
    const date = new Date(each.dateTime);
    const ago = Math.round((midnight(Date.now()) - midnight(date)) / 86_400_000);
    const [day, time] = date.toLocaleString("sv-SE").split(" ");
    each.textContent = `${ago < 2 ? days.format(-ago, "day") : day} ${time.slice(0, 5)}`;
    each.title = date.toLocaleString(language, { dateStyle: "full", timeStyle: "short" });
  }
}

const ends = new WeakMap();

/** Count clocks down, from what they showed when they came. */
function tick() {
  for (const clock of document.querySelectorAll("[data-left]")) {
    const left = Number(clock.dataset.left);
    if (ends.get(clock)?.left !== left) ends.set(clock, { left, at: performance.now() + left });
    const seconds = Math.max(0, Math.ceil((ends.get(clock).at - performance.now()) / 1000));
    const text = `${Math.floor(seconds / 60)}:${String(seconds % 60).padStart(2, "0")}`;
    clock.textContent = clock.textContent.replace(/[\d:]*\d/, text);
  }
}

showDates();
setInterval(tick, 1000);
