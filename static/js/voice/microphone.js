// The microphone: what it hears comes in pieces, until it is closed or the browser takes it away.

// As it is: what browsers do to voices for calls costs beginnings, ends and quiet words.
const SOUND = { channelCount: 1, echoCancellation: false, noiseSuppression: false, autoGainControl: false };

// Browsers allow microphones on secure pages only.
export function hasMicrophone() {
  return Boolean(navigator.mediaDevices?.getUserMedia && globalThis.AudioWorkletNode);
}

// Raises what `getUserMedia` raises: NotAllowedError, NotFoundError, NotReadableError. What it hears goes to a context that
// runs by then, because all that it hears before is lost.
export async function openMicrophone(worklet, { onPiece, onLost }) {
  let context = new AudioContext();
  let stream = null;
  try {
    await context.audioWorklet.addModule(worklet);
    // Some browsers let it run only once the microphone is open.
    context.resume().catch(() => {});
    stream = await navigator.mediaDevices.getUserMedia({ audio: SOUND });
    context = await atRateOf(stream, context, worklet);
    return await listen(stream, context, { onPiece, onLost });
  } catch (error) {
    close(stream, context);
    throw error;
  }
}

async function listen(stream, context, { onPiece, onLost }) {
  const node = new AudioWorkletNode(context, "pieces", {
    numberOfOutputs: 0,
    channelCount: 1,
    channelCountMode: "explicit",
  });
  const source = context.createMediaStreamSource(stream);
  let finish = null;
  const ended = new Promise((resolve) => (finish = resolve));
  node.port.onmessage = ({ data }) => (data ? onPiece(data) : finish());
  // Another program took it, it was muted, unplugged or forbidden, or the phone was locked: what follows is silence.
  const [track] = stream.getTracks();
  track.onended = track.onmute = onLost;
  context.onstatechange = () => {
    if (context.state === "interrupted") onLost();
  };
  source.connect(node);
  await context.resume();
  const lock = keepAwake();
  return {
    // Ends once the last piece has come; one that no audio thread runs for any more doesn't keep anybody waiting.
    async close() {
      track.onended = track.onmute = context.onstatechange = null;
      node.port.postMessage(null);
      await Promise.race([ended, new Promise((resolve) => setTimeout(resolve, 500))]);
      node.port.onmessage = null;
      close(stream, context);
      (await lock)?.release().catch(() => {});
    },
  };
}

// Some headsets have another rate once their microphone is open. A context that was begun before would distort it.
async function atRateOf(stream, context, worklet) {
  const { sampleRate } = stream.getAudioTracks()[0].getSettings();
  if (!sampleRate || sampleRate === context.sampleRate) return context;
  close(null, context);
  const other = new AudioContext();
  await other.audioWorklet.addModule(worklet);
  return other;
}

function close(stream, context) {
  for (const track of stream?.getTracks() ?? []) track.stop();
  context.close().catch(() => {});
}

// So that a phone isn't locked while somebody talks to it.
async function keepAwake() {
  try {
    return await navigator.wakeLock?.request("screen");
  } catch {
    return null;
  }
}
