/** Small sounds made in the browser; silent until the first gesture and whenever sound is off. */

let context = null;
let busyUntil = 0;

function wake() {
  if (document.documentElement.dataset.sound === "off") return;
  context ??= new AudioContext();
  if (context.state === "suspended") context.resume();
}

for (const gesture of ["pointerdown", "keydown"]) addEventListener(gesture, wake, { capture: true, passive: true });

/** A voice that starts now, or null when it must stay silent or another one still sounds. */
function voice(seconds) {
  if (context === null || context.state !== "running") return null;
  if (document.documentElement.dataset.sound === "off" || document.hidden) return null;
  const now = context.currentTime;
  if (now < busyUntil) return null;
  busyUntil = now + seconds;
  return now;
}

function knock(level, pitch) {
  const start = voice(0.09);
  if (start === null) return;
  const length = Math.floor(context.sampleRate * 0.08);
  const buffer = context.createBuffer(1, length, context.sampleRate);
  const samples = buffer.getChannelData(0);
  for (let i = 0; i < length; i += 1) samples[i] = (Math.random() * 2 - 1) * Math.exp(-i / (length * 0.09));
  const source = new AudioBufferSourceNode(context, { buffer });
  const wood = new BiquadFilterNode(context, { type: "bandpass", frequency: pitch * (0.92 + Math.random() * 0.16), Q: 5 });
  const gain = new GainNode(context, { gain: level });
  source.connect(wood).connect(gain).connect(context.destination);
  source.start(start);
}

function tone(frequency, seconds, level, slideTo = frequency, type = "sine") {
  const start = voice(seconds);
  if (start === null) return;
  const oscillator = new OscillatorNode(context, { type, frequency });
  const gain = new GainNode(context, { gain: 0 });
  gain.gain.setValueAtTime(0, start);
  gain.gain.linearRampToValueAtTime(level, start + 0.015);
  gain.gain.exponentialRampToValueAtTime(0.0005, start + seconds);
  oscillator.frequency.exponentialRampToValueAtTime(slideTo, start + seconds);
  oscillator.connect(gain).connect(context.destination);
  oscillator.start(start);
  oscillator.stop(start + seconds);
}

export const sound = {
  ownTile: () => knock(1.5, 1150),
  otherTile: () => knock(0.75, 880),
  bid: () => knock(0.4, 620),
  trick: () => tone(210, 0.22, 0.09, 120, "triangle"),
  turn: () => tone(659, 0.35, 0.07),
  tick: () => knock(0.3, 2100),
};
