// Generated from proto/rollbook/v1 by `.ci/stubs`; nothing in here is written by hand.
// The messages of a replay file, as `protobuf.js` reads them. Views and legal choices are in no file.

const one = (name, type) => ({ name, type });
const optional = (name, type) => ({ name, type, optional: true });
const list = (name, type) => ({ name, type, repeated: true });
const kind = (oneof, name, type) => ({ name, type, oneof });
const message = (...fields) => new Map(fields);

const FIRST_SEAT = message(
  [1, one("seat", "int32")],
);

const CANT_STOP_OUTCOME_ROLL = message(
  [1, list("dice", "int32")],
);

const CANT_STOP_OUTCOME = message(
  [1, kind("kind", "first_seat", FIRST_SEAT)],
  [2, kind("kind", "roll", CANT_STOP_OUTCOME_ROLL)],
);

const RAFFZAHN_OUTCOME_ROLL = message(
  [1, list("dice", "enum")],
);

const RAFFZAHN_OUTCOME = message(
  [1, kind("kind", "first_seat", FIRST_SEAT)],
  [2, kind("kind", "roll", RAFFZAHN_OUTCOME_ROLL)],
);

const WUERFELZOO_OUTCOME_DRAW = message(
  [1, one("seat", "int32")],
  [2, list("dice", "int32")],
);

const WUERFELZOO_OUTCOME_ROLL = message(
  [1, list("dice", "int32")],
  [2, list("faces", "enum")],
);

const WUERFELZOO_OUTCOME = message(
  [1, kind("kind", "first_seat", FIRST_SEAT)],
  [2, kind("kind", "draw", WUERFELZOO_OUTCOME_DRAW)],
  [3, kind("kind", "roll", WUERFELZOO_OUTCOME_ROLL)],
);

const ALLIE_GATOR_OUTCOME_TARGET = message(
  [1, one("pile", "int32")],
  [2, one("card", "int32")],
);

const ALLIE_GATOR_OUTCOME_DRAW = message(
  [1, one("seat", "int32")],
  [2, one("count", "int32")],
);

const ALLIE_GATOR_OUTCOME_STEAL = message();

const ALLIE_GATOR_OUTCOME = message(
  [1, kind("kind", "first_seat", FIRST_SEAT)],
  [2, kind("kind", "target", ALLIE_GATOR_OUTCOME_TARGET)],
  [3, kind("kind", "draw", ALLIE_GATOR_OUTCOME_DRAW)],
  [4, kind("kind", "steal", ALLIE_GATOR_OUTCOME_STEAL)],
);

const ANY = message(
  [1, one("type_url", "string")],
  [2, one("value", "bytes")],
);

const OUTCOME = message(
  [1, kind("game", "other", ANY)],
  [12, kind("game", "cant_stop", CANT_STOP_OUTCOME)],
  [13, kind("game", "raffzahn", RAFFZAHN_OUTCOME)],
  [14, kind("game", "wuerfelzoo", WUERFELZOO_OUTCOME)],
  [15, kind("game", "allie_gator", ALLIE_GATOR_OUTCOME)],
);

const HAPPENED = message(
  [1, one("outcome", OUTCOME)],
);

const CANT_STOP_CHOICE_ADVANCE = message(
  [1, list("columns", "int32")],
);

const CANT_STOP_CHOICE_ROLL = message();

const CANT_STOP_CHOICE_STOP = message();

const CANT_STOP_CHOICE = message(
  [1, kind("kind", "advance", CANT_STOP_CHOICE_ADVANCE)],
  [2, kind("kind", "roll", CANT_STOP_CHOICE_ROLL)],
  [3, kind("kind", "stop", CANT_STOP_CHOICE_STOP)],
);

const RAFFZAHN_CHOICE_ROLL = message(
  [1, list("dice", "int32")],
  [2, optional("announce", "int32")],
);

const RAFFZAHN_CHOICE_TAKE = message(
  [1, optional("tile", "int32")],
  [2, optional("safe", "bool")],
);

const RAFFZAHN_CHOICE_PASS = message();

const RAFFZAHN_CHOICE_SURRENDER = message(
  [1, list("tiles", "int32")],
);

const RAFFZAHN_CHOICE = message(
  [1, kind("kind", "roll", RAFFZAHN_CHOICE_ROLL)],
  [2, kind("kind", "take", RAFFZAHN_CHOICE_TAKE)],
  [3, kind("kind", "pass", RAFFZAHN_CHOICE_PASS)],
  [4, kind("kind", "surrender", RAFFZAHN_CHOICE_SURRENDER)],
);

const WUERFELZOO_CHOICE_PLAY = message(
  [1, list("dice", "int32")],
);

const WUERFELZOO_CHOICE_REROLL = message(
  [1, list("dice", "int32")],
);

const WUERFELZOO_CHOICE_BEAR = message(
  [1, optional("die", "int32")],
);

const WUERFELZOO_CHOICE_BOAR = message(
  [1, optional("own", "int32")],
  [2, optional("other", "int32")],
);

const WUERFELZOO_CHOICE_FOX = message(
  [1, optional("die", "int32")],
);

const WUERFELZOO_CHOICE_SQUIRREL = message(
  [1, optional("target", "int32")],
);

const WUERFELZOO_CHOICE_WORM = message(
  [1, optional("own", "int32")],
  [2, optional("target", "int32")],
);

const WUERFELZOO_CHOICE = message(
  [1, kind("kind", "play", WUERFELZOO_CHOICE_PLAY)],
  [2, kind("kind", "reroll", WUERFELZOO_CHOICE_REROLL)],
  [3, kind("kind", "bear", WUERFELZOO_CHOICE_BEAR)],
  [4, kind("kind", "boar", WUERFELZOO_CHOICE_BOAR)],
  [5, kind("kind", "fox", WUERFELZOO_CHOICE_FOX)],
  [6, kind("kind", "squirrel", WUERFELZOO_CHOICE_SQUIRREL)],
  [7, kind("kind", "worm", WUERFELZOO_CHOICE_WORM)],
);

const ALLIE_GATOR_CHOICE_NUMBER = message(
  [1, optional("card", "int32")],
  [2, optional("pile", "int32")],
);

const ALLIE_GATOR_CHOICE_REVERSE = message();

const ALLIE_GATOR_CHOICE_STEAL = message(
  [1, optional("target", "int32")],
);

const ALLIE_GATOR_CHOICE_RAISE = message(
  [1, optional("card", "int32")],
  [2, optional("pile", "int32")],
);

const ALLIE_GATOR_CHOICE_GIFT = message(
  [1, optional("pile", "int32")],
  [2, optional("target", "int32")],
);

const ALLIE_GATOR_CHOICE_SNAP = message(
  [1, optional("card", "int32")],
);

const ALLIE_GATOR_CHOICE = message(
  [1, kind("kind", "number", ALLIE_GATOR_CHOICE_NUMBER)],
  [2, kind("kind", "reverse", ALLIE_GATOR_CHOICE_REVERSE)],
  [3, kind("kind", "steal", ALLIE_GATOR_CHOICE_STEAL)],
  [4, kind("kind", "raise", ALLIE_GATOR_CHOICE_RAISE)],
  [5, kind("kind", "gift", ALLIE_GATOR_CHOICE_GIFT)],
  [6, kind("kind", "snap", ALLIE_GATOR_CHOICE_SNAP)],
);

const CHOICE = message(
  [1, kind("game", "other", ANY)],
  [12, kind("game", "cant_stop", CANT_STOP_CHOICE)],
  [13, kind("game", "raffzahn", RAFFZAHN_CHOICE)],
  [14, kind("game", "wuerfelzoo", WUERFELZOO_CHOICE)],
  [15, kind("game", "allie_gator", ALLIE_GATOR_CHOICE)],
);

const CHOSEN = message(
  [1, one("by_caretaker", "bool")],
  [2, one("charged_ms", "uint64")],
  [3, one("choice", CHOICE)],
);

const TIMED_OUT = message(
  [1, one("not_before_ms", "uint64")],
  [2, one("charged_ms", "uint64")],
);

const FORFEITED = message();

const RESIGNED = message();

const RESUMED = message(
  [1, one("not_charged_ms", "uint64")],
);

const SEAT_TAKEN = message(
  [1, one("player", "bytes")],
  [2, one("entropy_commitment", "bytes")],
  [3, one("house", "bool")],
);

const SEAT_LEFT = message();

const READY = message(
  [1, one("closing_link", "bytes")],
  [2, one("entropy", "bytes")],
);

const STARTED = message();

const CANT_STOP_OPTIONS = message(
  [1, optional("columns_to_win", "int32")],
  [2, optional("hasty", "bool")],
  [3, optional("free_fields", "bool")],
);

const RAFFZAHN_OPTIONS = message(
  [1, one("edition", "enum")],
  [2, optional("announce", "bool")],
);

const WUERFELZOO_OPTIONS = message(
  [1, optional("rounds_to", "int32")],
  [2, optional("box", "bool")],
);

const ALLIE_GATOR_OPTIONS = message(
  [1, optional("teeth_to_end", "int32")],
);

const OPTIONS = message(
  [1, kind("game", "other", ANY)],
  [12, kind("game", "cant_stop", CANT_STOP_OPTIONS)],
  [13, kind("game", "raffzahn", RAFFZAHN_OPTIONS)],
  [14, kind("game", "wuerfelzoo", WUERFELZOO_OPTIONS)],
  [15, kind("game", "allie_gator", ALLIE_GATOR_OPTIONS)],
);

const OPENED = message(
  [1, one("envelope", "int32")],
  [2, one("fairness", "string")],
  [3, one("game", "string")],
  [4, one("ruleset", "int32")],
  [5, one("seats", "int32")],
  [6, one("commitment", "bytes")],
  [7, one("turn_seconds", "int32")],
  [8, one("reserve_seconds", "int32")],
  [9, one("ready_seconds", "int32")],
  [10, one("spectator_delay_seconds", "int32")],
  [11, one("is_private", "bool")],
  [16, one("options", OPTIONS)],
  [17, one("open_seconds", "int32")],
  [18, one("idle_seconds", "int32")],
);

const SEALED_PLACES = message(
  [1, list("places", "int32")],
);

const SEALED_LOST_HEAD = message(
  [1, one("sequence", "uint64")],
  [2, one("link", "bytes")],
  [3, one("key_id", "string")],
  [4, one("signature", "bytes")],
);

const SEALED_ABORTED = message(
  [1, one("reason", "enum")],
  [3, one("lost", SEALED_LOST_HEAD)],
  [4, list("seats", "int32")],
);

const SEALED = message(
  [1, kind("result", "places", SEALED_PLACES)],
  [2, kind("result", "aborted", SEALED_ABORTED)],
  [3, one("secret", "bytes")],
);

export const EVENT = message(
  [1, one("sequence", "uint64")],
  [2, one("time_ms", "uint64")],
  [3, one("previous", "bytes")],
  [4, optional("seat", "int32")],
  [5, one("request", "bytes")],
  [6, kind("body", "happened", HAPPENED)],
  [7, kind("body", "chosen", CHOSEN)],
  [8, kind("body", "timed_out", TIMED_OUT)],
  [9, kind("body", "forfeited", FORFEITED)],
  [10, kind("body", "resigned", RESIGNED)],
  [11, kind("body", "resumed", RESUMED)],
  [12, kind("body", "seat_taken", SEAT_TAKEN)],
  [13, kind("body", "seat_left", SEAT_LEFT)],
  [14, kind("body", "ready", READY)],
  [15, kind("body", "started", STARTED)],
  [16, kind("body", "opened", OPENED)],
  [17, kind("body", "sealed", SEALED)],
);

const PERSPECTIVE = message(
  [1, one("kind", "enum")],
  [2, optional("seat", "int32")],
);

const REPLAY_BODY_OUTCOME = message(
  [1, one("sequence", "uint64")],
  [2, optional("hidden", "bytes")],
);

const SIGNED_HEAD = message(
  [1, one("match_id", "string")],
  [2, one("sequence", "uint64")],
  [3, one("link", "bytes")],
  [4, one("key_id", "string")],
  [5, one("signature", "bytes")],
);

export const REPLAY_BODY = message(
  [1, one("match_id", "string")],
  [2, one("game", "string")],
  [3, one("ruleset", "int32")],
  [4, one("perspective", PERSPECTIVE)],
  [5, list("events", "bytes")],
  [6, list("hidden", REPLAY_BODY_OUTCOME)],
  [7, list("heads", SIGNED_HEAD)],
);

export const REPLAY_NAMES = message(
  [1, one("match_id", "string")],
  [2, list("names", "string")],
);

const ALLIE_GATOR_HIDDEN = message(
  [1, list("cards", "int32")],
);

export const HIDDEN_OUTCOME = message(
  [1, kind("game", "other", ANY)],
  [15, kind("game", "allie_gator", ALLIE_GATOR_HIDDEN)],
);

export const ABORT_REASON = { NOT_READY: 1, LOG_LOST: 2, BY_OPERATOR: 3, EXPIRED: 4 };

export const PERSPECTIVE_KIND = { PUBLIC: 1, SEAT: 2, JUDGE: 3 };

/** What can happen in an event: names of its fields, by number. */
export const BODIES = [
  "happened",
  "chosen",
  "timed_out",
  "forfeited",
  "resigned",
  "resumed",
  "seat_taken",
  "seat_left",
  "ready",
  "started",
  "opened",
  "sealed",
];

/** The games of games.proto; `hiding` are the kinds of outcomes that hide something. */
export const GAMES = {
  cant_stop: {
    options: CANT_STOP_OPTIONS,
    choice: CANT_STOP_CHOICE,
    outcome: CANT_STOP_OUTCOME,
  },
  raffzahn: {
    options: RAFFZAHN_OPTIONS,
    choice: RAFFZAHN_CHOICE,
    outcome: RAFFZAHN_OUTCOME,
  },
  wuerfelzoo: {
    options: WUERFELZOO_OPTIONS,
    choice: WUERFELZOO_CHOICE,
    outcome: WUERFELZOO_OUTCOME,
  },
  allie_gator: {
    options: ALLIE_GATOR_OPTIONS,
    choice: ALLIE_GATOR_CHOICE,
    outcome: ALLIE_GATOR_OUTCOME,
    hidden: ALLIE_GATOR_HIDDEN,
    hiding: new Set(["draw", "steal"]),
  },
};
