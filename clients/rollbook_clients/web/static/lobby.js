// Updates the lobby from its stream.
import { patch } from "./patch.js";
import "./press.js";
import { follow } from "./stream.js";

const lobby = document.getElementById("lobby");
const parser = new DOMParser();

follow(lobby.dataset.stream, {
  take(html) {
    patch(document.getElementById("matches"), parser.parseFromString(html, "text/html").getElementById("matches"));
  },
});
