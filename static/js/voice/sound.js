// Recordings as WAV files: one channel of 16-bit samples, 16,000 a second. The server takes exactly this header
// (coaching/voice/sound.py).

export const RATE = 16000;
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

export function secondsOf(samples) {
  return samples / RATE;
}
