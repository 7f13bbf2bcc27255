// The board as an overlay for video streams; shows the last table while the service is away.
import { patch } from "./patch.js";
import { follow } from "./stream.js";

follow(document.getElementById("live"), { take: (fresh) => patch(document.getElementById("table"), fresh) });
