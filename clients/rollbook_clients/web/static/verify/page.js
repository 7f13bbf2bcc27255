// The verification page: judges files in the browser and sends nothing.
import { canVerify } from "./ed25519.js";
import { readKeyFile, readKeptHeads, RefusedLine } from "./key_files.js";
import { verify } from "./verifier.js";

const TEXTS = {
  en: {
    cannot: "This browser cannot verify here: it lacks Ed25519, or the page was not reached by https. Save the page and open the copy.",
    signed: "Signed and unchanged",
    unverified: "Nothing wrong found, but not everything was checked",
    diverged: "Something is wrong",
    unreadable: "This is no replay file that can be read",
    held: "What was checked, and holds",
    missing: "What was not checked",
    at: (check, event) => (event === null ? `Check: ${check}` : `Check: ${check}, event ${event}`),
    keys: (line) => `The key file cannot be read, line ${line}.`,
    heads: (line) => `The file of kept heads cannot be read, line ${line}.`,
    kept: "The head that this browser kept of this match is the same.",
    changed: "This browser has seen another log of this match. Keep this file, and the one you had before.",
    steps: {
      container: "The file is complete and canonical",
      chain: "Each event is bound to the one before",
      commitment: "The secret of the dice is the one that was committed to",
      lifecycle: "Seats, readiness, turns and end come in order",
      clocks: "Times and clocks agree",
      entropy: "What the seats brought to the dice is what they had committed to",
      draws: "Who begins was drawn from secret and entropy",
      heads: "The service signed these positions",
      kept_heads: "Kept heads match",
      signatures: "File and names are signed",
    },
    words: {
      release: "The file was written before the first release.",
      envelope: "A later program wrote it.",
      game: "This reader does not know the game.",
      rules: "Whether every choice was legal and every throw is the right one: `rollbook audit` checks that.",
      seal: "The match is not finished, so its secret is not known.",
      hidden: "What is hidden is not in the file.",
      head_key: "A head is signed by a key that the key file does not have.",
      last_head: "No signature covers the last event.",
      replay_key: "The file is signed by a key that the key file does not have.",
      kept_head_key: "A kept head is signed by an unknown key.",
      kept_head_of_another: "A kept head of another service does not fit.",
      one_name: "The keys do not all belong to one service.",
    },
  },
  de: {
    cannot: "Dieser Browser kann hier nicht prüfen: Ihm fehlt Ed25519, oder die Seite kam nicht über https. Sichere die Seite und öffne die Kopie.",
    signed: "Unterschrieben und unverändert",
    unverified: "Nichts Falsches gefunden, aber nicht alles geprüft",
    diverged: "Etwas stimmt nicht",
    unreadable: "Das ist keine Datei einer Partie, die sich lesen lässt",
    held: "Was geprüft wurde und stimmt",
    missing: "Was nicht geprüft wurde",
    at: (check, event) => (event === null ? `Prüfung: ${check}` : `Prüfung: ${check}, Ereignis ${event}`),
    keys: (line) => `Die Schlüsseldatei ist nicht lesbar, Zeile ${line}.`,
    heads: (line) => `Die Datei aufgehobener Köpfe ist nicht lesbar, Zeile ${line}.`,
    kept: "Ein Kopf, den dieser Browser von der Partie aufgehoben hat, passt.",
    changed: "Dieser Browser hat ein anderes Protokoll dieser Partie gesehen. Hebe diese Datei und die frühere auf.",
    steps: {
      container: "Die Datei ist vollständig und auf die eine Weise geschrieben",
      chain: "Jedes Ereignis hängt am vorigen",
      commitment: "Das Geheimnis der Würfel ist das zugesagte",
      lifecycle: "Plätze, Bereitschaft, Züge und Ende sind in Ordnung",
      clocks: "Zeiten und Uhren passen",
      entropy: "Was die Plätze zu den Würfeln beitrugen, ist das Zugesagte",
      draws: "Wer beginnt, folgt aus Geheimnis und Zufall der Plätze",
      heads: "Der Dienst hat diese Stände unterschrieben",
      kept_heads: "Aufgehobene Köpfe passen",
      signatures: "Datei und Namen sind unterschrieben",
    },
    words: {
      release: "Die Datei stammt aus der Zeit vor der ersten Ausgabe.",
      envelope: "Ein späteres Programm hat sie geschrieben.",
      game: "Dieser Leser kennt das Spiel nicht.",
      rules: "Ob jede Wahl erlaubt und jeder Wurf der richtige war: Das prüft `rollbook audit`.",
      seal: "Die Partie ist nicht beendet, ihr Geheimnis also nicht bekannt.",
      hidden: "Was verdeckt ist, steht nicht in der Datei.",
      head_key: "Ein Kopf ist mit einem Schlüssel unterschrieben, der nicht in der Schlüsseldatei steht.",
      last_head: "Keine Unterschrift deckt das letzte Ereignis.",
      replay_key: "Die Datei ist mit einem Schlüssel unterschrieben, der nicht in der Schlüsseldatei steht.",
      kept_head_key: "Ein aufgehobener Kopf ist mit einem unbekannten Schlüssel unterschrieben.",
      kept_head_of_another: "Ein aufgehobener Kopf eines anderen Dienstes passt nicht.",
      one_name: "Die Schlüssel gehören nicht alle einem Dienst.",
    },
  },
};

/** Checks that this page never makes, or that need a finished match: a file can be signed and unchanged without them. */
const UNSIGNED = new Set(["rules", "seal", "hidden"]);

const form = document.getElementById("verify");
const output = document.getElementById("verdict");
const texts = TEXTS[form.dataset.language] ?? TEXTS.en;

function shown(tag, text, classes = "") {
  const element = document.createElement(tag);
  element.textContent = text;
  if (classes) element.className = classes;
  return element;
}

function listed(items) {
  const list = document.createElement("ul");
  list.append(...items.map((item) => shown("li", item)));
  return list;
}

async function bytesOf(id) {
  const [file] = document.getElementById(id).files;
  return file ? new Uint8Array(await file.arrayBuffer()) : null;
}

async function judge(file, keyBytes, headBytes) {
  if (!(await canVerify())) return [shown("p", texts.cannot)];
  let keys = new Map();
  let heads = [];
  try {
    if (keyBytes) keys = await readKeyFile(keyBytes);
  } catch (error) {
    if (error instanceof RefusedLine) return [shown("p", texts.keys(error.line))];
    throw error;
  }
  try {
    if (headBytes) heads = readKeptHeads(headBytes);
  } catch (error) {
    if (error instanceof RefusedLine) return [shown("p", texts.heads(error.line))];
    throw error;
  }
  const seen = seenHeads();
  const verdict = await verify(file, keys, [...heads, ...seen]);
  output.dataset.verdict = verdict.verdict;
  output.dataset.check = verdict.check ?? "";
  output.dataset.event = verdict.event ?? "";
  const isSigned = verdict.verdict === "unverified" && verdict.missing.every(({ word }) => UNSIGNED.has(word));
  const parts = [shown("h2", texts[isSigned ? "signed" : verdict.verdict], verdict.verdict)];
  if (verdict.verdict === "diverged") parts.push(shown("p", texts.at(verdict.check, verdict.event)));
  if (verdict.why) parts.push(shown("p", verdict.why));
  const held = Object.entries(verdict.steps).map(([check, times]) => `${texts.steps[check] ?? check} (${check}, ${times})`);
  if (held.length) parts.push(shown("h3", texts.held), listed(held));
  if (verdict.missing.length) {
    parts.push(shown("h3", texts.missing));
    parts.push(listed(verdict.missing.map(({ word, detail }) => `${texts.words[word]}${detail ? ` (${detail})` : ""}`)));
  }
  if (seen.some((head) => head.match === verdict.matchId)) {
    const differs = verdict.verdict === "diverged" && verdict.check === "heads";
    parts.push(shown("p", differs ? texts.changed : texts.kept));
  }
  return parts;
}

/** The signed heads that this browser has seen and kept, one per line. */
function seenHeads() {
  const lines = [];
  try {
    for (const key of Object.keys(localStorage)) if (key.startsWith("head/")) lines.push(localStorage.getItem(key));
  } catch {
    // Without storage no heads are kept.
  }
  try {
    return readKeptHeads(new TextEncoder().encode(lines.join("\n")));
  } catch (error) {
    if (error instanceof RefusedLine) return [];
    throw error;
  }
}

async function run(file, keys, heads) {
  output.replaceChildren(...(await judge(file, keys, heads)));
}

form.addEventListener("submit", async (event) => {
  event.preventDefault();
  const file = await bytesOf("file");
  if (file) await run(file, await bytesOf("keys"), await bytesOf("heads"));
});

if (form.dataset.match) {
  const fetched = async (address) => new Uint8Array(await (await fetch(address)).arrayBuffer());
  await run(await fetched(`/matches/${form.dataset.match}/file`), await fetched("/keys"), null);
}
