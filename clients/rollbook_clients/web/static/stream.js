// A stream of messages that comes back by itself, whatever ended it, and is let go while nobody looks.

const BEAT_MS = 40_000;
const HIDDEN_MS = 30_000;
const PAUSES = [1, 2, 4, 8, 15, 30];

/** Follow `address`: `take` gets the data of each message, `away` whether the connection is lost. */
export function follow(address, { take, away = () => {}, ended = () => {} }) {
  let source = null;
  let failures = 0;
  let timer = 0;
  let hidden = 0;
  let over = false;

  const lost = () => {
    close();
    away(true);
    const pause = PAUSES[Math.min(failures, PAUSES.length - 1)] * 1000;
    failures += 1;
    timer = setTimeout(open, pause * (0.7 + 0.6 * Math.random()));
  };
  const heard = () => {
    clearTimeout(timer);
    timer = setTimeout(lost, BEAT_MS);
  };
  const close = () => {
    clearTimeout(timer);
    source?.close();
    source = null;
  };
  const open = () => {
    close();
    source = new EventSource(address);
    heard();
    source.onmessage = (event) => {
      failures = 0;
      heard();
      away(false);
      take(event.data);
    };
    source.addEventListener("beat", heard);
    source.addEventListener("end", () => {
      over = true;
      close();
      ended();
    });
    source.onerror = lost;
  };
  document.addEventListener("visibilitychange", () => {
    clearTimeout(hidden);
    if (over) return;
    if (document.hidden) hidden = setTimeout(close, HIDDEN_MS);
    else if (source === null) open();
  });
  addEventListener("pagehide", close);
  open();
}
