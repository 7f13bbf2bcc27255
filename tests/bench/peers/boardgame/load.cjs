// The load on boardgame.io, in a process of its own; the twin of load.py, and it speaks the same lines.
//
// Every participant has a socket.io client of its own, as boardgame.io's client has; it is what that client is made of,
// without its store, so that the load costs as little as it can. Both players and two spectators are told every state.

const readline = require("node:readline");
const { io } = require("socket.io-client");

const SEATS = 2;
const SPECTATORS = 2;
const SCRIPT = [["roll"], ["choose", 0, 1], ["roll"], ["choose", 2, 3], ["stop"]];
const PATIENCE_MS = 60_000;

const now = () => performance.now();

class Load {
  constructor(what) {
    this.what = what;
    this.pause = what.rate ? (1_000 * what.matches) / what.rate : 0;
    this.stopped = false;
    this.forget();
  }

  forget() {
    this.frames = 0;
    this.answers = [];
    this.deliveries = [];
  }

  async seated(number) {
    const ask = async (path, body) => {
      const answer = await fetch(`http://${this.what.lobby}/games/dice/${path}`, {
        method: "POST",
        headers: { "content-type": "application/json" },
        body: JSON.stringify(body),
      });
      if (!answer.ok) throw new Error(`${path}: ${answer.status}`);
      return answer.json();
    };
    const { matchID } = await ask("create", { numPlayers: SEATS });
    const credentials = [];
    for (let seat = 0; seat < SEATS; seat++) {
      const joined = await ask(`${matchID}/join`, { playerID: String(seat), playerName: `p${number}-${seat}` });
      credentials.push(joined.playerCredentials);
    }
    const table = new Table(this, matchID, credentials);
    await table.watched();
    return table;
  }

  async run() {
    this.tables = [];
    for (let number = 0; number < this.what.matches; number++) this.tables.push(await this.seated(number));
    const began = now();
    this.tables.forEach((table, number) => table.begin(began + (this.pause * number) / this.tables.length));
    await sleep(1_000 * this.what.warm_up_seconds);
    this.forget();
    const from = now();
    say("begin");
    await sleep(1_000 * this.what.seconds);
    while (!this.deliveries.length) await sleep(50);
    const seconds = (now() - from) / 1_000;
    say("end");
    const found = { moves: this.answers.length, frames: this.frames, seconds };
    this.stopped = true;
    const deadline = now() + PATIENCE_MS;
    while (!this.tables.every((table) => table.isTold())) {
      if (now() > deadline) throw new Error("not everybody is told what they wait for");
      await sleep(20);
    }
    say({ ...found, answer_ms: times(this.answers), told_ms: times(this.deliveries) });
    process.exit(0);
  }
}

class Table {
  constructor(load, matchID, credentials) {
    this.load = load;
    this.matchID = matchID;
    this.credentials = credentials;
    this.step = 0;
    this.first = null;
    this.due = 0;
    this.awaited = null; // the state that the move under way leads to
    this.wanted = null; // the state that whoever moves next has to know
    this.moves = new Map(); // by state: when the move was due, and who has yet to be told
    this.clients = [...Array(SEATS).keys(), ...Array(SPECTATORS).fill(null)].map((seat) => this.join(seat));
  }

  join(seat) {
    const socket = io(`http://${this.load.what.address}/dice`, { transports: ["websocket"], forceNew: true });
    const client = { socket, seat, stateID: -1 };
    const playerID = seat === null ? null : String(seat);
    client.synced = new Promise((resolve) => {
      socket.on("sync", (_matchID, { state }) => {
        client.stateID = state._stateID;
        this.player = Number(state.ctx.currentPlayer);
        resolve();
      });
    });
    socket.on("update", (_matchID, state) => this.told(client, state));
    socket.on("connect", () => {
      socket.emit("sync", this.matchID, playerID, seat === null ? undefined : this.credentials[seat], SEATS);
    });
    return client;
  }

  async watched() {
    await Promise.all(this.clients.map((client) => client.synced));
    this.wanted = this.clients[0].stateID;
  }

  begin(due) {
    this.due = due;
    setTimeout(() => this.choose(due), Math.max(0, due - now()));
  }

  choose(due) {
    if (this.load.stopped) return;
    this.due = due;
    this.isDue = true;
    this.send();
  }

  send() {
    const client = this.clients[this.player];
    if (!this.isDue || client.stateID < this.wanted) return;
    this.isDue = false;
    const [type, ...args] = SCRIPT[this.step];
    this.step = (this.step + 1) % SCRIPT.length;
    const playerID = String(this.player);
    const payload = { type, args, playerID, credentials: this.credentials[this.player] };
    this.mover = client;
    this.awaited = client.stateID + 1;
    this.moves.set(this.awaited, { due: this.due, left: this.clients.length });
    client.socket.emit("update", { type: "MAKE_MOVE", payload }, client.stateID, this.matchID, playerID);
  }

  told(client, state) {
    const load = this.load;
    const at = now();
    if (state._stateID <= client.stateID) return;
    client.stateID = state._stateID;
    for (const [stateID, move] of this.moves) {
      if (stateID > state._stateID || client.reached >= stateID) continue;
      load.frames += 1;
      move.left -= 1;
      client.reached = stateID;
      if (!move.left) {
        load.deliveries.push(at - move.due);
        this.moves.delete(stateID);
      }
    }
    if (client === this.mover && this.awaited !== null && state._stateID >= this.awaited) {
      this.awaited = null;
      load.answers.push(at - this.due);
      this.wanted = state._stateID;
      this.player = Number(state.ctx.currentPlayer);
      this.next();
    } else if (this.isDue) this.send();
  }

  next() {
    if (this.load.stopped) return;
    if (!this.load.pause) return this.choose(now());
    const due = this.due + this.load.pause;
    const wait = due - now();
    if (wait > 0) setTimeout(() => this.choose(due), wait);
    else this.choose(due);
  }

  isTold() {
    return this.awaited === null && !this.moves.size;
  }
}

const say = (what) => console.log(JSON.stringify(what));
const sleep = (ms) => new Promise((resolve) => setTimeout(resolve, ms));

function times(found) {
  const ordered = Float64Array.from(found).sort();
  return { p50: ordered[Math.floor(ordered.length * 0.5)], p99: ordered[Math.floor(ordered.length * 0.99)] };
}

readline.createInterface({ input: process.stdin }).once("line", (line) => {
  new Load(JSON.parse(line)).run().catch((failure) => {
    console.error(failure);
    process.exit(1);
  });
});
