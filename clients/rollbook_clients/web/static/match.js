// The page of a match: updates, announcements, choices, clocks, keys.
import "./keys.js";
import { patch } from "./patch.js";
import { refresh } from "./play.js";
import "./press.js";
import * as queue from "./queue.js";
import { follow } from "./stream.js";

const live = document.getElementById("live");
const said = document.getElementById("said");
const alarm = document.getElementById("alarm");
const answer = document.getElementById("answer");
const away = document.getElementById("away");
const title = document.getElementById("title").dataset.title;
const token = document.querySelector('meta[name="form-token"]').content;
const parser = new DOMParser();
const MOST_SAID = 20;
/** How long the sentence stays readable that another table is looked for. */
const SEARCH_MS = 2_000;
let told = Math.max(0, ...[...document.querySelectorAll("#log li")].map((line) => Number(line.dataset.event)));
let wasMine = document.getElementById("choose") !== null;
let wasOver = document.getElementById("after") !== null;
let wasAway = false;
let wasAsked = false;
let sounds = null;
const play = (name, isSeen) => sounds?.play(name, isSeen);

const FETCH_MS = 10_000;
/** The tables so far; each is shown after those before it, and with its choices. */
let taken = Promise.resolve();
let newest = "";
let fetched = { position: null };
const positionOf = (of) => of.querySelector("#choose [name=position]")?.value ?? of.dataset.position;
const partsApart = (of) => [...of.querySelectorAll("[data-apart]")];
const lacksChoices = (of) => partsApart(of).some((part) => !part.childNodes.length);

const table = () => document.getElementById("table");

function randomId() {
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  bytes[6] = (bytes[6] & 15) | 64;
  bytes[8] = (bytes[8] & 63) | 128;
  const hex = [...bytes].map((byte) => byte.toString(16).padStart(2, "0")).join("");
  return hex.replace(/^(.{8})(.{4})(.{4})(.{4})/, "$1-$2-$3-$4-");
}

/** Set a text for screen readers; a changed space makes them read the same text again. */
function say(element, text) {
  element.textContent = element.textContent === text ? `${text}\u00a0` : text;
}

/** Make the page equal to a table; the queue calls this for each board that it shows. */
queue.begin((fresh) => {
  const choose = document.getElementById("choose");
  const steps = Number(fresh.dataset.position) - Number(table().dataset.position);
  // While no event happens, keep the pieces and menus that the player has picked and opened.
  if (steps !== 0) picks += 1;
  else if (choose && !lacksChoices(choose)) fresh.querySelector("#choose")?.replaceWith(choose.cloneNode(true));
  patch(table(), fresh);
  if (sendingAt && steps !== 0 && sendingAt !== shownPosition()) rest();
  refresh();
  tick();
}, (name, isSeen) => play(name, isSeen));

follow(live, {
  take(fresh, late) {
    const since = performance.now() - late;
    newest = positionOf(fresh);
    taken = taken.catch(() => {}).then(() => complete(fresh)).then(() => {
      clockSince = since;
      queue.take(fresh);
      keep(fresh.dataset.head);
      announce(fresh);
    });
  },
  away(lost) {
    away.hidden = !lost;
    if (wasAway && !lost) say(said, live.dataset.back);
    wasAway = lost;
    if (lost) queue.jump();
    tick();
  },
});

/** Fetch the choices of a table that are too long for the stream, until a newer table comes. */
async function complete(fresh) {
  const position = positionOf(fresh);
  if (!lacksChoices(fresh)) return;
  for (let pause = 100; fetched.position !== position; pause = Math.min(2 * pause, 1000)) {
    const query = new URLSearchParams({ position });
    const eyes = new URLSearchParams(location.search).get("eyes");
    if (eyes) query.set("eyes", eyes);
    const response = await fetch(`${location.pathname}/choices?${query}`, { signal: AbortSignal.timeout(FETCH_MS) }).catch(() => null);
    const text = response?.ok ? await response.text().catch(() => "") : "";
    if (text) fetched = { position, parts: parser.parseFromString(text, "text/html") };
    else if (newest !== position) return;
    else await new Promise((resolve) => setTimeout(resolve, pause));
  }
  for (const part of partsApart(fresh)) part.replaceChildren(...(fetched.parts.getElementById(part.id)?.cloneNode(true).childNodes ?? []));
}

/** Keep the last signed head of each match seen here, for verifying it afterwards. */
function keep(head) {
  if (!head) return;
  try {
    const { match, sequence } = JSON.parse(head);
    const before = JSON.parse(localStorage.getItem(`head/${match}`) ?? '{"sequence":0}');
    if (sequence > before.sequence) localStorage.setItem(`head/${match}`, head);
  } catch {
    // Without storage no heads are kept.
  }
}

/** Announce new events once, in their order: as an alert what is urgent for this player, the turn, and the end. */
function announce(fresh) {
  const isMine = fresh.querySelector("#choose") !== null;
  const isOver = fresh.querySelector("#after") !== null;
  const status = fresh.querySelector("#status").textContent;
  const isUrgent = (line) => ["all", fresh.dataset.own].includes(line.dataset.alarm);
  const lines = [...fresh.querySelectorAll("#log li")].map((line) => [Number(line.dataset.event), line.querySelector("span").textContent, isUrgent(line)]);
  // The newest event is at the top, but the lines of one event are in their order.
  const news = lines.filter(([event]) => event > told).sort(([one], [other]) => one - other);
  told = Math.max(told, ...news.map(([event]) => event));
  const asks = fresh.dataset.asks === "yes";
  const isAsking = (isMine && !wasMine) || (asks && !wasAsked);
  const urgent = news.filter(([, , isOurs]) => isOurs).map(([, text]) => text);
  if (isOver && !wasOver) urgent.unshift(fresh.querySelector("#won")?.textContent ?? "");
  if (isAsking) urgent.push(status);
  // Only where it is seen: a page that is opened later has the button alone.
  if (isOver && !wasOver && fresh.dataset.search) {
    urgent.push(status);
    setTimeout(() => document.querySelector("#now button")?.click(), SEARCH_MS);
  }
  const others = news.filter(([, , isOurs]) => !isOurs).slice(-MOST_SAID);
  if (others.length) say(said, others.map(([, text]) => text).join(" "));
  if (urgent.length) say(alarm, urgent.join(" ").trim());
  if (isAsking) ring(status);
  [wasMine, wasOver, wasAsked] = [isMine, isOver, asks];
  document.title = `${isMine || asks ? "● " : ""}${asks ? status : title} · Rollbook`;
  document.querySelector('link[rel="icon"]').href = new URL(isMine || asks ? "icon-turn.svg" : "icon.svg", import.meta.url);
}

// Choices: retried with the same request id until a reply arrives.

let sendingAt = null;
let latest = null;

document.addEventListener("submit", async (event) => {
  const form = event.target;
  if (form.id !== "choose" || event.submitter?.name !== "choice") return;
  event.preventDefault();
  const position = form.elements.position.value;
  // Buttons stay enabled, as disabling would lose the focus. A choice at a later position does not wait for this reply.
  if (sendingAt === position) return;
  [sendingAt, latest] = [position, position];
  live.setAttribute("aria-busy", "true");
  const isDone = await send(form.action, new URLSearchParams({ form_token: token, position, request_id: randomId(), choice: event.submitter.value }));
  // A choice that counts is followed by another table.
  if (sendingAt === position && !(isDone && position === shownPosition())) rest();
});

const shownPosition = () => document.querySelector("#choose [name=position]")?.value;

/** End the wait for a choice. */
function rest() {
  live.removeAttribute("aria-busy");
  sendingAt = null;
}

/** Post a choice until there is an answer; whether it counts. */
async function send(address, body) {
  // Report nothing about a choice once a later one has been made.
  const tell = (text, isDone = false) => {
    if (latest !== body.get("position")) return;
    answer.classList.toggle("unseen", isDone);
    say(answer, text);
  };
  for (let attempt = 0; attempt < 6; attempt += 1) {
    try {
      const response = await fetch(address, { method: "POST", body, headers: { accept: "application/json" } });
      if (response.headers.get("content-type")?.startsWith("application/json")) {
        tell((await response.json()).said, response.ok);
        if (response.status !== 503) return response.ok;
      } else if (response.status < 500) break;
    } catch {
      // The request failed; it can be repeated, because its id makes it count once.
    }
    await new Promise((resolve) => setTimeout(resolve, 500 * 2 ** attempt));
  }
  tell(live.dataset.notSent);
  return false;
}

let picks = 0;

document.addEventListener("change", async (event) => {
  if (event.target.name !== "piece") return;
  picks += 1;
  const mine = picks;
  const form = event.target.form;
  const picked = new URLSearchParams([...new FormData(form)].filter(([name]) => name === "piece"));
  document.getElementById("choices-list").ariaBusy = "true";
  const response = await fetch(`${location.pathname}/choices?${picked}`).catch(() => null);
  const text = response?.ok ? await response.text() : "";
  const old = document.getElementById("choices-list");
  // Other pieces may have been picked meanwhile, or the turn may be over.
  if (mine !== picks || !old) return;
  old.ariaBusy = null;
  if (text) patch(old, parser.parseFromString(text, "text/html").getElementById("choices-list"));
  refresh();
});

// Clocks, keys, sound and notifications.

function minutes(ms) {
  const seconds = Math.ceil(ms / 1000);
  const [hours, rest] = [Math.floor(seconds / 3600), seconds % 3600];
  const pair = `${String(Math.floor(rest / 60)).padStart(hours ? 2 : 1, "0")}:${String(rest % 60).padStart(2, "0")}`;
  return hours ? `${hours}:${pair}` : pair;
}

const SHORT_MS = 10_000;
let clockSince = performance.now();
let wasShort = false;

/** Update the clocks; alert the player once when little time is left. */
function tick() {
  let isShort = false;
  for (const clock of document.querySelectorAll("[data-left]")) {
    const left = Math.max(0, Number(clock.dataset.left) - (performance.now() - clockSince));
    // While the connection is lost, the clocks are unknown.
    clock.textContent = wasAway ? "" : minutes(left);
    if (!clock.classList.contains("own") || left >= SHORT_MS || wasAway) continue;
    isShort = true;
    if (wasShort) continue;
    say(alarm, clock.textContent);
    play("short");
  }
  wasShort = isShort;
}
setInterval(tick, 1000);
tick();
refresh();

document.addEventListener("keydown", (event) => {
  if (event.target.closest?.("input:not([type=checkbox]), select, textarea") || event.ctrlKey || event.metaKey || event.altKey) return;
  if (/^[1-9]$/.test(event.key) && !event.repeat) {
    // Digits count inside the menu that is open.
    const menu = [...document.querySelectorAll("#choices-list details[open]")].at(-1)?.id ?? "choice";
    const choice = document.getElementById(`${menu}-${event.key}`);
    (choice?.querySelector("summary") ?? choice)?.click();
  }
  if (event.key === "m") soundSwitch.click();
  if (event.key === "l") document.getElementById("log-title").focus();
  if (event.key === "?") {
    const help = document.getElementById("help");
    if (help) {
      help.open = !help.open;
      help.querySelector("summary").focus();
    }
  }
  if (event.key === "c") say(alarm, [...document.querySelectorAll(".left")].map((clock) => clock.textContent).join(" "));
});

const soundSwitch = document.getElementById("sound");
const motionSwitch = document.getElementById("motion");
const notify = document.getElementById("notify");
document.getElementById("switches").hidden = false;
if (!("Notification" in window) || !isSecureContext) notify.parentElement.hidden = true;
notify.addEventListener("change", () => notify.checked && Notification.requestPermission());

/** What a switch was last set to in this browser: in its storage, else in a cookie. */
function remembered({ id }, usual) {
  const cookie = document.cookie.split("; ").find((each) => each.startsWith(`${id}=`))?.slice(id.length + 1);
  try {
    return localStorage.getItem(`switch/${id}`) ?? cookie ?? usual;
  } catch {
    return cookie ?? usual;
  }
}

function rememberSwitch({ id, checked }) {
  const value = checked ? "on" : "off";
  try {
    localStorage.setItem(`switch/${id}`, value);
  } catch {
    document.cookie = `${id}=${value}; path=/; max-age=31536000; samesite=lax`;
  }
}

function keepSwitch(input, usual, set) {
  input.checked = remembered(input, usual) === "on";
  input.addEventListener("change", () => {
    rememberSwitch(input);
    set(input.checked);
  });
  set(input.checked);
}

keepSwitch(motionSwitch, "on", queue.pace);
keepSwitch(soundSwitch, "off", async (isOn) => {
  // Most visitors never load the sounds.
  if (isOn) sounds ??= await import("./sounds.js");
  sounds?.sound(soundSwitch.checked, (waits) => { document.getElementById("sound-later").hidden = !waits; });
});

function ring(text) {
  play("turn");
  if (notify.checked && document.hidden && Notification.permission === "granted") {
    new Notification(title, { body: text, tag: location.pathname });
  }
}

// The code of an invitation is in the fragment, which browsers do not send to servers.
const code = location.hash.slice(1);
if (code) for (const field of document.querySelectorAll("[data-from-fragment]")) field.value = code;
const invitation = document.getElementById("invitation");
const copy = document.getElementById("copy");
if (invitation) {
  invitation.addEventListener("focus", () => invitation.select());
  copy.hidden = !navigator.clipboard;
  copy.addEventListener("click", () => navigator.clipboard.writeText(invitation.value));
}
