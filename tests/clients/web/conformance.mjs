// Judge every case of the corpus with the page's verifier, and print a line of JSON for each: node conformance.mjs CORPUS VERIFIER
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { pathToFileURL } from "node:url";

const [corpus, modules] = process.argv.slice(2);
const load = (name) => import(pathToFileURL(join(modules, name)));
const { headline, verify } = await load("verifier.js");
const { readKeyFile, readKeptHeads, RefusedLine } = await load("key_files.js");

const made = (parts) => Buffer.concat(parts.flatMap(({ hex, times }) => Array(times).fill(Buffer.from(hex, "hex"))));

async function judge(one) {
  const file = one.made ? made(one.made) : await readFile(join(corpus, one.file));
  if (one.kind === "keys" || one.kind === "heads") {
    try {
      await (one.kind === "keys" ? readKeyFile(file) : readKeptHeads(file));
    } catch (error) {
      if (error instanceof RefusedLine) return { line: error.line, exit: 3 };
      throw error;
    }
    return { line: null, exit: 0 };
  }
  const keys = await readKeyFile(await readFile(join(corpus, one.keys)));
  const heads = one.heads ? readKeptHeads(await readFile(join(corpus, one.heads))) : [];
  const found = await verify(new Uint8Array(file), keys, heads);
  const { verdict, check, event, exit, missing, flawedHeads } = found;
  const words = missing.map(({ word }) => word);
  return { verdict, check, event, exit, missing: words, flawed_heads: flawedHeads, headline: headline(found) };
}

for (const line of (await readFile(join(corpus, "cases.jsonl"), "utf-8")).split("\n")) {
  if (line === "") continue;
  const one = JSON.parse(line);
  if (one.kind === "bundle") continue;
  let said;
  try {
    said = await judge(one);
  } catch (error) {
    said = { crashed: String(error.stack) };
  }
  console.log(JSON.stringify({ file: one.file, keys: one.keys, heads: one.heads, said }));
}
