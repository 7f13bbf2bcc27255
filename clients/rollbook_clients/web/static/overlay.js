// The board of a stream's picture: the last table stays while the service is away, and nothing else is ever shown.
import { patch } from "./patch.js";
import { follow } from "./stream.js";

const parser = new DOMParser();

follow(document.getElementById("live").dataset.stream, {
  take(html) {
    patch(document.getElementById("table"), parser.parseFromString(html, "text/html").getElementById("table"));
  },
});
