// Print the verifier's messages as JSON, and which outcomes of each game hide something: node schema.mjs VERIFIER
import { join } from "node:path";
import { pathToFileURL } from "node:url";

const { EVENT, REPLAY_BODY, REPLAY_NAMES, HIDDEN_OUTCOME, GAMES } = await import(
  pathToFileURL(join(process.argv[2], "schema.js"))
);

const described = (schema) =>
  Object.fromEntries(
    [...schema].map(([number, { name, type, repeated = false, optional = false, oneof = null }]) => [
      number,
      { name, type: typeof type === "string" ? type : described(type), repeated, optional, oneof },
    ]),
  );

const roots = [EVENT, REPLAY_BODY, REPLAY_NAMES, HIDDEN_OUTCOME].map(described);
const hiding = Object.fromEntries(Object.entries(GAMES).map(([game, parts]) => [game, [...(parts.hiding ?? [])].sort()]));
console.log(JSON.stringify({ roots, hiding }));
