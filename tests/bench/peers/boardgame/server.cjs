// A dice game on boardgame.io's own server, in memory: roll four dice, choose two of them, go on or stop.
//
// Its smallest honest form: dice by the random plugin, illegal moves refused, nothing to undo. It prints where it is.

const { INVALID_MOVE } = require("boardgame.io/core");
const { Server, Origins } = require("boardgame.io/server");

const game = {
  name: "dice",
  disableUndo: true,
  setup: () => ({ dice: null, turn: 0, scores: [0, 0] }),
  moves: {
    roll: ({ G, random }) => {
      if (G.dice) return INVALID_MOVE;
      G.dice = random.D6(4);
    },
    choose: ({ G }, one, other) => {
      if (!G.dice || one === other || !(one in G.dice) || !(other in G.dice)) return INVALID_MOVE;
      G.turn += G.dice[one] + G.dice[other];
      G.dice = null;
    },
    stop: ({ G, ctx, events }) => {
      if (G.dice || !G.turn) return INVALID_MOVE;
      G.scores[ctx.currentPlayer] += G.turn;
      G.turn = 0;
      events.endTurn();
    },
  },
};

// The lobby listens apart: what comes behind the sockets on one port is not found with the Koa of today.
const server = Server({ games: [game], origins: [Origins.LOCALHOST] });
server.run({ port: 0, lobbyConfig: { apiPort: "0" } }).then((running) => {
  const [address, lobby] = [running.appServer, running.apiServer].map((each) => `127.0.0.1:${each.address().port}`);
  console.log(JSON.stringify({ address, lobby }));
});
