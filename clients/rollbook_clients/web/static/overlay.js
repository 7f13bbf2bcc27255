// The board as an overlay for video streams; shows the last table while the service is away.
import { patch } from "./patch.js";
import { follow } from "./stream.js";

const parser = new DOMParser();

follow(document.getElementById("live").dataset.stream, {
  take(html) {
    patch(document.getElementById("table"), parser.parseFromString(html, "text/html").getElementById("table"));
  },
});
