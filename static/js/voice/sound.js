// Recordings as WAV files: one channel of 16-bit samples, 16,000 a second. The server takes exactly this header
// (coaching/voice/sound.py).

export const RATE = 16000;
// A recording has no more samples than that, and silence is pointed out after so many.
export const MOST_SAMPLES = 600 * RATE;
export const QUIET_SAMPLES = 5 * RATE;
// Louder samples aren't silence, as the server judges it.
const QUIET = 100;
const HEADER_BYTES = 44;
const SAMPLE_BYTES = 2;

export function wavOf(pieces) {
  const size = pieces.reduce((sum, piece) => sum + piece.byteLength, 0);
  const view = new DataView(new ArrayBuffer(HEADER_BYTES));
  const write = (place, letters) => [...letters].forEach((letter, n) => view.setUint8(place + n, letter.charCodeAt(0)));
  write(0, "RIFF");
  view.setUint32(4, size + 36, true);
  write(8, "WAVEfmt ");
  view.setUint32(16, 16, true);
  view.setUint16(20, 1, true);
  view.setUint16(22, 1, true);
  view.setUint32(24, RATE, true);
  view.setUint32(28, RATE * SAMPLE_BYTES, true);
  view.setUint16(32, SAMPLE_BYTES, true);
  view.setUint16(34, 8 * SAMPLE_BYTES, true);
  write(36, "data");
  view.setUint32(40, size, true);
  return new Blob([view, ...pieces], { type: "audio/wav" });
}

// `peak` is the loudest sample, from 0 to 1.
export function isQuiet(peak) {
  return peak * 32767 < QUIET;
}

export function isSilent(pieces) {
  return pieces.every((piece) => piece.every((sample) => Math.abs(sample) < QUIET));
}

// Minutes and seconds.
export function clockOf(samples) {
  const seconds = Math.floor(samples / RATE);
  return `${Math.floor(seconds / 60)}:${String(seconds % 60).padStart(2, "0")}`;
}
