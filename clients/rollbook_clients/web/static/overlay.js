// The overlay for video streams; shows the last table while the service is away.
import { patch } from "./patch.js";
import { follow } from "./stream.js";

let since = performance.now();

/** Write the running clock, computed from the last table. */
function tick() {
  for (const clock of document.querySelectorAll("[data-left]")) {
    const seconds = Math.ceil(Math.max(0, Number(clock.dataset.left) - (performance.now() - since)) / 1000);
    clock.textContent = `${Math.floor(seconds / 60)}:${String(seconds % 60).padStart(2, "0")}`;
  }
}

follow(document.getElementById("live"), {
  take(fresh, late) {
    patch(document.getElementById("table"), fresh);
    since = performance.now() - late;
    tick();
  },
});
setInterval(tick, 500);
tick();
