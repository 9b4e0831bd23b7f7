// Runs in the audio thread: what the microphone hears as 16-bit samples, 16,000 a second, in pieces of a tenth of a second.
// A sample is the mean of the time that it stands for, whatever the rate of the device is.

const RATE = 16000;
const PIECE = RATE / 10;
const CLOSE = 1e-9;

class Pieces extends AudioWorkletProcessor {
  #step = sampleRate / RATE;
  #sum = 0;
  #weight = 0;
  #piece = new Int16Array(PIECE);
  #filled = 0;
  #peak = 0;
  #hasEnded = false;

  constructor() {
    super();
    this.port.onmessage = () => {
      this.#send();
      this.port.postMessage(null);
      this.#hasEnded = true;
    };
  }

  process([[samples]]) {
    for (const sample of samples ?? []) this.#take(sample);
    return !this.#hasEnded;
  }

  #take(sample) {
    for (let left = 1; left > CLOSE; ) {
      const taken = Math.min(left, this.#step - this.#weight);
      this.#sum += sample * taken;
      this.#weight += taken;
      left -= taken;
      if (this.#step - this.#weight > CLOSE) continue;
      this.#put(this.#sum / this.#step);
      this.#sum = this.#weight = 0;
    }
  }

  #put(value) {
    const sample = Math.max(-1, Math.min(1, value));
    this.#peak = Math.max(this.#peak, Math.abs(sample));
    this.#piece[this.#filled++] = Math.round(sample * 32767);
    if (this.#filled === PIECE) this.#send();
  }

  #send() {
    const samples = this.#piece.slice(0, this.#filled);
    if (samples.length) this.port.postMessage({ samples, peak: this.#peak }, [samples.buffer]);
    this.#filled = this.#peak = 0;
  }
}

registerProcessor("pieces", Pieces);
