// The messages of a replay file, as proto/rollbook/v1 has them. Views and legal choices are in no file.

const one = (name, type) => ({ name, type });
const optional = (name, type) => ({ name, type, optional: true });
const list = (name, type) => ({ name, type, repeated: true });
const kinds = (oneof, fields) => fields.map(([number, name, type]) => [number, { name, type, oneof }]);
const message = (...fields) => new Map(fields);

const ANY = message([1, one("type_url", "string")], [2, one("value", "bytes")]);
const NOTHING = message();
const FIRST_SEAT = message([1, one("seat", "int32")]);

const CANT_STOP = {
  options: message(
    [1, optional("columns_to_win", "int32")],
    [2, optional("hasty", "bool")],
    [3, optional("free_fields", "bool")],
  ),
  choice: message(
    ...kinds("kind", [
      [1, "advance", message([1, list("columns", "int32")])],
      [2, "roll", NOTHING],
      [3, "stop", NOTHING],
    ]),
  ),
  outcome: message(
    ...kinds("kind", [
      [1, "first_seat", FIRST_SEAT],
      [2, "roll", message([1, list("dice", "int32")])],
    ]),
  ),
};

const RAFFZAHN = {
  options: message([1, one("edition", "enum")], [2, optional("announce", "bool")]),
  choice: message(
    ...kinds("kind", [
      [1, "roll", message([1, list("dice", "int32")], [2, optional("announce", "int32")])],
      [2, "take", message([1, optional("tile", "int32")], [2, optional("safe", "bool")])],
      [3, "pass", NOTHING],
      [4, "surrender", message([1, list("tiles", "int32")])],
    ]),
  ),
  outcome: message(
    ...kinds("kind", [
      [1, "first_seat", FIRST_SEAT],
      [2, "roll", message([1, list("dice", "enum")])],
    ]),
  ),
};

const DICE = message([1, list("dice", "int32")]);
const DIE = message([1, optional("die", "int32")]);
const WUERFELZOO = {
  options: message([1, optional("rounds_to", "int32")], [2, optional("box", "bool")]),
  choice: message(
    ...kinds("kind", [
      [1, "play", DICE],
      [2, "reroll", DICE],
      [3, "bear", DIE],
      [4, "boar", message([1, optional("own", "int32")], [2, optional("other", "int32")])],
      [5, "fox", DIE],
      [6, "squirrel", message([1, optional("target", "int32")])],
      [7, "worm", message([1, optional("own", "int32")], [2, optional("target", "int32")])],
    ]),
  ),
  outcome: message(
    ...kinds("kind", [
      [1, "first_seat", FIRST_SEAT],
      [2, "draw", message([1, one("seat", "int32")], [2, list("dice", "int32")])],
      [3, "roll", message([1, list("dice", "int32")], [2, list("faces", "enum")])],
    ]),
  ),
};

const CARD_AND_PILE = message([1, optional("card", "int32")], [2, optional("pile", "int32")]);
const ALLIE_GATOR = {
  options: message([1, optional("teeth_to_end", "int32")]),
  choice: message(
    ...kinds("kind", [
      [1, "number", CARD_AND_PILE],
      [2, "reverse", NOTHING],
      [3, "steal", message([1, optional("target", "int32")])],
      [4, "raise", CARD_AND_PILE],
      [5, "gift", message([1, optional("pile", "int32")], [2, optional("target", "int32")])],
      [6, "snap", message([1, optional("card", "int32")])],
    ]),
  ),
  outcome: message(
    ...kinds("kind", [
      [1, "first_seat", FIRST_SEAT],
      [2, "target", message([1, one("pile", "int32")], [2, one("card", "int32")])],
      [3, "draw", message([1, one("seat", "int32")], [2, one("count", "int32")])],
      [4, "steal", NOTHING],
    ]),
  ),
  hidden: message([1, list("cards", "int32")]),
  /** The kinds of outcomes that hide something. */
  hiding: new Set(["draw", "steal"]),
};

/** The games of which this reader knows the messages, all of ruleset 1. */
export const GAMES = { cant_stop: CANT_STOP, raffzahn: RAFFZAHN, wuerfelzoo: WUERFELZOO, allie_gator: ALLIE_GATOR };

const byGame = (part) =>
  message(
    ...kinds("game", [
      [1, "other", ANY],
      ...["cant_stop", "raffzahn", "wuerfelzoo", "allie_gator"]
        .map((game, index) => [12 + index, game, GAMES[game][part]])
        .filter(([, , type]) => type !== undefined),
    ]),
  );

export const HIDDEN_OUTCOME = byGame("hidden");

const LOST_HEAD = message(
  [1, one("sequence", "uint64")],
  [2, one("link", "bytes")],
  [3, one("key_id", "string")],
  [4, one("signature", "bytes")],
);

const ABORTED = message([1, one("reason", "enum")], [3, one("lost", LOST_HEAD)], [4, list("seats", "int32")]);

export const REASONS = { NOT_READY: 1, LOG_LOST: 2, BY_OPERATOR: 3, EXPIRED: 4 };

/** What happened, in the order of the numbers of the fields. */
const BODY = [
  [6, "happened", message([1, one("outcome", byGame("outcome"))])],
  [
    7,
    "chosen",
    message([1, one("by_caretaker", "bool")], [2, one("charged_ms", "uint64")], [3, one("choice", byGame("choice"))]),
  ],
  [8, "timed_out", message([1, one("not_before_ms", "uint64")], [2, one("charged_ms", "uint64")])],
  [9, "forfeited", NOTHING],
  [10, "resigned", NOTHING],
  [11, "resumed", message([1, one("not_charged_ms", "uint64")])],
  [
    12,
    "seat_taken",
    message([1, one("player", "bytes")], [2, one("entropy_commitment", "bytes")], [3, one("house", "bool")]),
  ],
  [13, "seat_left", NOTHING],
  [14, "ready", message([1, one("closing_link", "bytes")], [2, one("entropy", "bytes")])],
  [15, "started", NOTHING],
  [
    16,
    "opened",
    message(
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
      [16, one("options", byGame("options"))],
      [17, one("open_seconds", "int32")],
      [18, one("idle_seconds", "int32")],
    ),
  ],
  [
    17,
    "sealed",
    message(
      ...kinds("result", [
        [1, "places", message([1, list("places", "int32")])],
        [2, "aborted", ABORTED],
      ]),
      [3, one("secret", "bytes")],
    ),
  ],
];

/** The names of what can happen. */
export const BODIES = BODY.map(([, name]) => name);

export const EVENT = message(
  [1, one("sequence", "uint64")],
  [2, one("time_ms", "uint64")],
  [3, one("previous", "bytes")],
  [4, optional("seat", "int32")],
  [5, one("request", "bytes")],
  ...kinds("body", BODY),
);

const SIGNED_HEAD = message(
  [1, one("match_id", "string")],
  [2, one("sequence", "uint64")],
  [3, one("link", "bytes")],
  [4, one("key_id", "string")],
  [5, one("signature", "bytes")],
);

export const PERSPECTIVES = { PUBLIC: 1, SEAT: 2, JUDGE: 3 };

export const REPLAY_BODY = message(
  [1, one("match_id", "string")],
  [2, one("game", "string")],
  [3, one("ruleset", "int32")],
  [4, one("perspective", message([1, one("kind", "enum")], [2, optional("seat", "int32")]))],
  [5, list("events", "bytes")],
  // What was hidden is read apart: of a game that a later program lists, nothing of it is known.
  [6, list("hidden", message([1, one("sequence", "uint64")], [2, optional("hidden", "bytes")]))],
  [7, list("heads", SIGNED_HEAD)],
);

export const REPLAY_NAMES = message([1, one("match_id", "string")], [2, list("names", "string")]);
