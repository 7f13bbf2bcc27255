// Sounds made by the browser, without files: short tones and noise, by the kind of event.

/** Tones as [wave, from Hz, to Hz, begin s, length s, volume]; the wave "noise" is filtered at these frequencies. */
const SOUNDS = {
  throw: [["noise", 1800, 900, 0, 0.06, 0.5], ["noise", 2200, 800, 0.08, 0.06, 0.4], ["noise", 1500, 600, 0.17, 0.08, 0.35]],
  step: [["triangle", 520, 560, 0, 0.07, 0.25]],
  draw: [["noise", 3200, 1600, 0, 0.05, 0.2]],
  place: [["triangle", 330, 300, 0, 0.1, 0.3]],
  take: [["triangle", 440, 440, 0, 0.08, 0.3], ["triangle", 660, 660, 0.08, 0.12, 0.3]],
  steal: [["sawtooth", 300, 900, 0, 0.22, 0.12], ["triangle", 880, 660, 0.2, 0.2, 0.25]],
  bust: [["sawtooth", 330, 70, 0, 0.55, 0.2], ["noise", 700, 120, 0.3, 0.3, 0.3]],
  snap: [["noise", 2500, 300, 0, 0.1, 0.7], ["square", 140, 60, 0.02, 0.2, 0.2]],
  won: [["triangle", 523, 523, 0, 0.12, 0.3], ["triangle", 784, 784, 0.12, 0.25, 0.3]],
  seat: [["sine", 392, 392, 0, 0.1, 0.25], ["sine", 523, 523, 0.1, 0.16, 0.25]],
  turn: [["sine", 660, 660, 0, 0.16, 0.3], ["sine", 880, 880, 0.16, 0.3, 0.3]],
  short: [["square", 880, 880, 0, 0.08, 0.12], ["square", 880, 880, 0.16, 0.08, 0.12]],
  end: [["triangle", 523, 523, 0, 0.2, 0.3], ["triangle", 659, 659, 0.15, 0.2, 0.3], ["triangle", 784, 784, 0.3, 0.5, 0.3]],
};
const ALIKE = { rotten: "bust", trap: "bust" };
const ALWAYS = ["seat", "turn", "short", "end"];

let context = null;
let isOn = false;
let noticed = () => {};

/** Whether sounds are on, but the browser waits for a press on the page. */
const waits = () => isOn && context !== null && context.state !== "running";

/** Turn sounds on or off; `notice` receives whether the browser still waits for a press. */
export function sound(on, notice = noticed) {
  [isOn, noticed] = [on, notice];
  if (on && !context && "AudioContext" in window) {
    context = new AudioContext();
    context.addEventListener("statechange", () => noticed(waits()));
  }
  resume();
  noticed(waits());
}

function resume() {
  if (waits()) context.resume().catch(() => {});
}

for (const press of ["pointerdown", "keydown"]) addEventListener(press, resume, true);

/** Play the sound of this name, if there is one; `isSeen`: whether the board can be seen, without which few sounds matter. */
export function play(name, isSeen = true) {
  const tones = SOUNDS[ALIKE[name] ?? name];
  if (!isOn || !tones || !context || waits() || !(isSeen || ALWAYS.includes(name))) return;
  for (const tone of tones) sing(...tone);
}

function sing(wave, from, to, begin, length, volume) {
  const start = context.currentTime + begin;
  const source = wave === "noise" ? noise(length) : context.createOscillator();
  const gain = context.createGain();
  gain.gain.setValueAtTime(volume, start);
  gain.gain.exponentialRampToValueAtTime(0.001, start + length);
  let last = source;
  if (wave === "noise") {
    last = context.createBiquadFilter();
    last.type = "bandpass";
    source.connect(last);
  } else source.type = wave;
  last.frequency.setValueAtTime(from, start);
  last.frequency.exponentialRampToValueAtTime(to, start + length);
  last.connect(gain).connect(context.destination);
  source.start(start);
  source.stop(start + length);
}

function noise(length) {
  const buffer = context.createBuffer(1, Math.ceil(length * context.sampleRate), context.sampleRate);
  const samples = buffer.getChannelData(0);
  for (let each = 0; each < samples.length; each += 1) samples[each] = 2 * Math.random() - 1;
  const source = context.createBufferSource();
  source.buffer = buffer;
  return source;
}
