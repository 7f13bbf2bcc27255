// Step 1: whether an event is in canonical form and has all required fields.

import { BODIES, GAMES, ABORT_REASON } from "./schema.js";

const OF_A_SEAT = new Set(["seat_taken", "seat_left", "ready", "chosen", "timed_out", "forfeited", "resigned"]);
const LONGEST_LIST = 100;

/** The kind of an event: the name of the field that is set, or undefined. */
export function kindOf(event) {
  return BODIES.find((name) => event[name] !== undefined);
}

/** The reason why an event cannot be read, or null. `game` is the game of the match, `first` whether this is event 1. */
export function unreadable(event, game, first) {
  const kind = kindOf(event);
  if (kind === undefined) return "nothing happened in it";
  if ((kind === "opened") !== first) return first ? "event 1 does not open the match" : "a match is opened once";
  if ((event.seat !== undefined) !== OF_A_SEAT.has(kind)) return "it has a seat, or none, where it must not";
  if (kind === "opened") return unreadableOpening(event.opened);
  if (kind === "chosen") return unreadableChoice(event.chosen.choice, game);
  if (kind === "happened") return unreadableOutcome(event.happened.outcome, game);
  if (kind === "sealed") return unreadableSeal(event.sealed);
  return null;
}

function unreadableOpening(opened) {
  if (opened.envelope < 1 || opened.fairness === "") return "it does not say how it is to be read";
  if (opened.ruleset < 1 || opened.game === "") return "it does not say what is played";
  const options = opened.options?.[opened.game];
  if (options === undefined) return "its options are not those of the game";
  for (const field of GAMES[opened.game].options.values()) {
    if (field.optional ? options[field.name] === undefined : !options[field.name]) {
      return `the option ${field.name} is not written`;
    }
  }
  return null;
}

/** The kind of a choice or outcome of the game, as [name, message]; undefined if there is none. */
export function kindIn(wrapper, part, game) {
  const message = wrapper?.[game];
  if (message === undefined) return undefined;
  for (const { name } of GAMES[game][part].values()) {
    if (message[name] !== undefined) return [name, message[name]];
  }
  return undefined;
}

function unreadableChoice(choice, game) {
  const found = kindIn(choice, "choice", game);
  if (found === undefined) return "it is no choice of this game";
  for (const value of Object.values(found[1])) {
    if (!Array.isArray(value)) continue;
    if (value.length > LONGEST_LIST) return "a list is too long";
    if (value.some((item, index) => index > 0 && item < value[index - 1])) return "a list does not ascend";
  }
  return null;
}

function unreadableOutcome(outcome, game) {
  const found = kindIn(outcome, "outcome", game);
  if (found === undefined) return "it is no outcome of this game";
  return found[1].count < 0 ? "a count is negative" : null;
}

function unreadableSeal({ places, aborted }) {
  if (places === undefined && aborted === undefined) return "it seals without a result";
  if (places !== undefined) return places.places.length === 0 ? "its places are empty" : null;
  if (!Object.values(ABORT_REASON).includes(aborted.reason)) return "its reason is not known";
  const { lost } = aborted;
  if ((lost !== undefined) !== (aborted.reason === ABORT_REASON.LOG_LOST)) return "a lost head is there, or not, where it must not";
  if (lost && (lost.sequence < 1n || lost.link.length !== 32 || lost.signature.length !== 64)) {
    return "what was lost is no head";
  }
  return null;
}
