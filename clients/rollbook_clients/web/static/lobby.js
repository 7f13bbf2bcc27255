// Updates the lobby from its stream.
import { patch } from "./patch.js";
import "./press.js";
import { follow } from "./stream.js";

follow(document.getElementById("lobby"), { take: (fresh) => patch(document.getElementById("matches"), fresh) });
