// A film as a video, recorded in this browser while it plays once.
import { element } from "./element.mjs";
import { download } from "./files.mjs";
import { HEIGHT, WIDTH } from "./card.mjs";
import { imageOf } from "./picture.mjs";

// What can be posted first: most places take no WebM.
const TYPES = ["video/mp4;codecs=avc1.42E01F", "video/mp4", "video/webm"];
const PAUSE = 30; // milliseconds, in which the browser takes what was painted

export const canRecord = () => "MediaRecorder" in window && "captureStream" in HTMLCanvasElement.prototype;

/** Plays the figure's frames, each for so many milliseconds, and offers the video as a file. */
export async function saveClip(figure, { frames, go, title, milliseconds }) {
  const type = TYPES.find((each) => MediaRecorder.isTypeSupported(each));
  const canvas = element("canvas", { width: WIDTH, height: HEIGHT });
  const pen = canvas.getContext("2d");
  const paint = async () => {
    pen.drawImage(await imageOf(figure, { title, words: figure.status.textContent }), 0, 0);
    await new Promise((seen) => setTimeout(seen, PAUSE));
  };
  go(frames[0]);
  await paint();
  const recorder = new MediaRecorder(canvas.captureStream(), { mimeType: type });
  const parts = [];
  recorder.ondataavailable = ({ data }) => parts.push(data);
  const ended = new Promise((resolve) => (recorder.onstop = resolve));
  recorder.start();
  for (const frame of frames) {
    go(frame);
    const until = performance.now() + milliseconds;
    do await paint(); while (performance.now() < until && figure.isConnected);
  }
  recorder.stop();
  await ended;
  if (figure.isConnected) download(`${figure.key}.${type.split(/[/;]/)[1]}`, new Blob(parts), type);
}
