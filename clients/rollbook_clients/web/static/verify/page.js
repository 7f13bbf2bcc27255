// The verification page: judges files in the browser and sends nothing.
import { canVerify } from "./ed25519.js";
import { readKeyFile, readKeptHeads, RefusedLine } from "./key_files.js";
import { ascii, sha256, toHex } from "./bytes.js";
import { headline, verify } from "./verifier.js";

const TEXTS = {
  en: {
    none: "This browser cannot check",
    cannot: "It lacks Ed25519, or the page was not reached by https. Save the page and open the copy, or use another browser.",
    signed: "Signed and unchanged",
    unknown_signer: "Unchanged. The signer is unknown",
    changedAt: (event) => (event === null ? "Changed, or damaged" : `Changed, or damaged, at event ${event}`),
    by: (name) => `Signed with the keys of ${name}.`,
    of: (events) => (events === 1 ? "The file has 1 event." : `The file has ${events} events.`),
    failed: "What does not hold",
    unreadable: "No replay file can be read from these bytes:",
    held: "What was checked, and holds",
    missing: "What was not checked",
    needs: "With the key file of the service, from a person whom you trust, this page can tell who signed the file.",
    own: "The keys come from the service that keeps the match. Keys that you got another way prove more.",
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
      rules: "Whether each choice was legal: `rollbook audit`",
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
    none: "Dieser Browser kann nicht prüfen",
    cannot: "Ihm fehlt Ed25519, oder die Seite kam nicht über https. Sichere die Seite und öffne die Kopie, oder nimm einen anderen Browser.",
    signed: "Unterschrieben und unverändert",
    unknown_signer: "Unverändert. Wer unterschrieb, ist unbekannt",
    changedAt: (event) => (event === null ? "Verändert oder beschädigt" : `Verändert oder beschädigt, bei Ereignis ${event}`),
    by: (name) => `Unterschrieben mit den Schlüsseln von ${name}.`,
    of: (events) => (events === 1 ? "Die Datei hat 1 Ereignis." : `Die Datei hat ${events} Ereignisse.`),
    failed: "Was nicht stimmt",
    unreadable: "Aus diesen Bytes lässt sich keine Partie lesen:",
    held: "Was geprüft wurde und stimmt",
    missing: "Was nicht geprüft wurde",
    needs: "Mit der Schlüsseldatei des Dienstes, von jemandem, dem du traust, kann diese Seite sagen, wer unterschrieb.",
    own: "Die Schlüssel kommen vom Dienst, der die Partie aufbewahrt. Schlüssel auf anderem Weg beweisen mehr.",
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
      rules: "Ob jede Wahl erlaubt war: `rollbook audit`",
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

const form = document.getElementById("verify");
const output = document.getElementById("verdict");
const texts = TEXTS[form.dataset.language] ?? TEXTS.en;

function shown(tag, text, classes = "") {
  const element = document.createElement(tag);
  element.textContent = text;
  if (classes) element.className = classes;
  return element;
}

/** A list; parts of an item between backquotes are code, and what is behind a tab is smaller. */
function listed(items, classes) {
  const list = shown("ul", "", classes);
  for (const item of items) {
    const [text, aside] = item.split("\t");
    const line = shown("li", "");
    line.append(...text.split("`").map((part, index) => (index % 2 ? shown("code", part) : part)));
    if (aside) line.append(" ", shown("small", aside));
    list.append(line);
  }
  return list;
}

/** The headline alone, where there is no verdict. */
function without(verdict, why) {
  for (const name of ["verdict", "check", "event"]) delete output.dataset[name];
  output.dataset.headline = "none";
  return [shown("h2", verdict, "headline none"), shown("p", why)];
}

async function bytesOf(id) {
  const [file] = document.getElementById(id).files;
  return file ? new Uint8Array(await file.arrayBuffer()) : null;
}

async function judge(file, keyBytes, headBytes) {
  if (!(await canVerify())) return without(texts.none, texts.cannot);
  let keys = new Map();
  let heads = [];
  try {
    if (keyBytes) keys = await readKeyFile(keyBytes);
  } catch (error) {
    if (error instanceof RefusedLine) return without(texts.none, texts.keys(error.line));
    throw error;
  }
  try {
    if (headBytes) heads = readKeptHeads(headBytes);
  } catch (error) {
    if (error instanceof RefusedLine) return without(texts.none, texts.heads(error.line));
    throw error;
  }
  const seen = seenHeads();
  const verdict = await verify(file, keys, [...heads, ...seen]);
  output.dataset.verdict = verdict.verdict;
  output.dataset.check = verdict.check ?? "";
  output.dataset.event = verdict.event ?? "";
  const found = headline(verdict);
  output.dataset.headline = found;
  const { event } = verdict;
  const said = found === "changed" ? texts.changedAt(event) : texts[found];
  const parts = [shown("h2", said, `headline ${found}`)];
  if (found === "signed" && verdict.signer) parts.push(shown("p", texts.by(verdict.signer)));
  if (verdict.events !== null) parts.push(shown("p", texts.of(verdict.events), "note"));
  if (found === "unknown_signer") parts.push(shown("p", texts.needs));
  if (found === "signed" && ownKeys) parts.push(shown("p", texts.own, "note"));
  if (verdict.check) parts.push(shown("h3", texts.failed), listed([`${texts.steps[verdict.check] ?? verdict.check}\t${verdict.check}`], "failed"));
  if (verdict.why) parts.push(shown("p", `${texts.unreadable} ${verdict.why}`));
  const held = Object.entries(verdict.steps).map(([check, times]) => `${texts.steps[check] ?? check}\t${check}, ${times}`);
  if (held.length) parts.push(shown("h3", texts.held), listed(held, "held"));
  const missing = verdict.missing.map(({ word, detail }) => `${texts.words[word]}${detail ? `\t${detail}` : ""}`);
  if (found === "changed") missing.push(texts.words.rules);
  if (missing.length) parts.push(shown("h3", texts.missing), listed(missing, "missing"));
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

let ownKeys = false;

async function run(file, keys, heads) {
  output.replaceChildren(...(await judge(file, keys, heads)));
}

form.addEventListener("submit", async (event) => {
  event.preventDefault();
  const file = await bytesOf("file");
  ownKeys = false;
  if (file) await run(file, await bytesOf("keys"), await bytesOf("heads"));
});

/** The saved copy is written as browsers serialise a document, so that it can show the digest of its own bytes. */
const digest = document.getElementById("digest");
if (digest && globalThis.crypto?.subtle) digest.textContent = toHex(await sha256(ascii(`<!doctype html>\n${document.documentElement.outerHTML}`)));

if (form.dataset.match) {
  const fetched = async (address) => new Uint8Array(await (await fetch(address)).arrayBuffer());
  ownKeys = true;
  await run(await fetched(`/matches/${form.dataset.match}/file`), await fetched("/keys"), null);
}
