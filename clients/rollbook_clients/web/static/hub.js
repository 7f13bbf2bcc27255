// One stream for all tabs of a browser: a SharedWorker runs this module. Without one, each visible tab imports it.
//
// A tab sends {topic, at}: what it follows, and the state of it that it shows, as the page or a message named it. It
// receives {message, late}, {away}, {end} and {gone}; `late` is for how long a message was under way, in ms.

const BEAT_MS = 40_000;
/** Pauses in seconds before the next attempt: short ones after a lost connection, as viewers wait for the table. */
const PAUSES = [1, 2, 4, 8, 16, 30];
const MOST_LOST = 3;
const MOST_MATCHES = 8;
const MOST_LOBBIES = 2;
const MOST_STEPS = 8;
/** Time in which tabs that are opened together are gathered. */
const GATHER_MS = 50;
const CLOCK_MS = 60_000;

const tabs = new Set();
/** By topic: the state that the stream has reached, and the latest changes before it. */
let topics = new Map();
let source = null;
let gathering = 0;
let timer = 0;
let failures = 0;
let differences = [];

const tabsOf = (name) => [...tabs].filter((tab) => tab.topic === name);

/** The topics to follow: the lobby, and the matches of the tabs that were visible last. */
function wanted() {
  const names = new Set([...tabs].sort((one, other) => other.shownAt - one.shownAt).map((tab) => tab.topic));
  const isLobby = (name) => name.startsWith("lobby");
  const matches = [...names].filter((name) => !isLobby(name)).slice(0, MOST_MATCHES);
  return [...[...names].filter(isLobby).slice(0, MOST_LOBBIES), ...matches];
}

/** For how long a message was under way: compared with the fastest one of the last minute. */
function lateness(sent) {
  const now = Date.now();
  differences = [...differences.filter(([at]) => at > now - CLOCK_MS), [now, now - sent]];
  return now - sent - Math.min(...differences.map(([, difference]) => difference));
}

const tell = (message) => tabs.forEach((tab) => tab.post(message));

function close() {
  clearTimeout(timer);
  timer = 0;
  source?.close();
  source = null;
  if (!tabs.size) failures = 0;
}

function lost() {
  const most = source?.readyState === EventSource.CLOSED ? PAUSES.length - 1 : MOST_LOST;
  close();
  if (!tabs.size) return;
  tell({ away: true });
  timer = setTimeout(open, PAUSES[Math.min(failures, most)] * (0.7 + 0.6 * Math.random()) * 1000);
  failures += 1;
}

function hear() {
  clearTimeout(timer);
  timer = setTimeout(lost, BEAT_MS);
}

/** Open the stream for the topics of all tabs. */
function open() {
  close();
  const names = wanted();
  topics = new Map();
  if (!names.length) return;
  const query = new URLSearchParams();
  for (const name of names) {
    const states = new Set(tabsOf(name).map((tab) => tab.at));
    const at = states.size === 1 ? [...states][0] : "";
    topics.set(name, { at, steps: [] });
    query.append("topic", `${name}~${at}`);
  }
  source = new EventSource(`/stream?${query}`);
  hear();
  source.onerror = lost;
  source.addEventListener("beat", (event) => {
    hear();
    lateness(JSON.parse(event.data).now_ms);
    failures = 0;
    tell({ away: false });
  });
  for (const name of names) source.addEventListener(name, (event) => take(name, JSON.parse(event.data)));
}

function take(name, message) {
  hear();
  if (message.status >= 500 || message.status === 429) {
    lost();
    return;
  }
  failures = 0;
  if (message.end || message.status) {
    for (const tab of tabsOf(name)) {
      tabs.delete(tab);
      tab.post(message.end ? { end: true } : { gone: true });
    }
    topics.delete(name);
    if (!tabs.size) close();
    return;
  }
  const topic = topics.get(name);
  topic.at = message.to;
  topic.steps = message.from ? [...topic.steps, message].slice(-MOST_STEPS) : [];
  const late = lateness(message.now_ms);
  for (const tab of tabsOf(name)) send(tab, message, late);
  gather();
}

/** Send a message to a tab if it leads from the state of the tab to another one. */
function send(tab, message, late) {
  if (message.to === tab.at || (message.from && message.from !== tab.at)) return;
  tab.at = message.to;
  tab.post({ message, late });
}

/** Whether the stream brings this tab forward, sending it what it has missed. */
function isServed(tab) {
  const topic = topics.get(tab.topic);
  if (!topic) return !wanted().includes(tab.topic);
  for (const message of topic.steps) if (message.from === tab.at) send(tab, message, lateness(message.now_ms));
  return tab.at === topic.at;
}

/** Open the stream again if it lacks what a tab needs. */
function gather() {
  gathering ||= setTimeout(() => {
    gathering = 0;
    const isBetweenAttempts = source === null && timer !== 0;
    if (!isBetweenAttempts && (![...tabs].every(isServed) || [...topics.keys()].some((name) => !tabsOf(name).length))) open();
  }, GATHER_MS);
}

/** Add a tab, to which `post` sends; returns the function that receives its messages. */
export function join(post) {
  const tab = { topic: "", at: "", shownAt: 0, post };
  return (said) => {
    if (said.isShown) tab.shownAt = Date.now();
    if (said.topic) {
      [tab.topic, tab.at] = [said.topic, said.at];
      tabs.add(tab);
    }
    if (said.bye) tabs.delete(tab);
    if (tabs.size) gather();
    else close();
  };
}

globalThis.onconnect = ({ ports: [port] }) => {
  const receive = join((message) => port.postMessage(message));
  port.onmessage = ({ data }) => receive(data);
  // A tab that crashed sends no farewell.
  port.addEventListener("close", () => receive({ bye: true }));
};
