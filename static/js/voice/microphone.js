// The microphone: what it hears comes in pieces, until it is closed or the browser takes it away.

// As it is: what browsers do to voices for calls costs beginnings, ends and quiet words.
const SOUND = { channelCount: 1, echoCancellation: false, noiseSuppression: false, autoGainControl: false };

// Browsers allow microphones on secure pages only.
export function hasMicrophone() {
  return Boolean(navigator.mediaDevices?.getUserMedia && globalThis.AudioWorkletNode);
}

// Raises what `getUserMedia` raises: NotAllowedError, NotFoundError, NotReadableError.
export async function openMicrophone(worklet, { onPiece, onLost }) {
  const stream = await navigator.mediaDevices.getUserMedia({ audio: SOUND });
  const context = new AudioContext();
  try {
    await context.audioWorklet.addModule(worklet);
    await context.resume();
  } catch (error) {
    close(stream, context);
    throw error;
  }
  const node = new AudioWorkletNode(context, "pieces", {
    numberOfOutputs: 0,
    channelCount: 1,
    channelCountMode: "explicit",
  });
  const source = context.createMediaStreamSource(stream);
  const lock = keepAwake();
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

function close(stream, context) {
  for (const track of stream.getTracks()) track.stop();
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
