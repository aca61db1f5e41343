// A film as a video, recorded in this browser while it plays once.
import { element } from "./element.mjs";
import { download } from "./files.mjs";
import { drawingOf } from "./picture.mjs";

const MARGIN = 20; // a sentence of one more line still fits
const PAUSE = 30; // milliseconds, in which the browser takes what was painted

export const canRecord = () => "MediaRecorder" in window && "captureStream" in HTMLCanvasElement.prototype;

/** Plays the figure's frames, each for so many milliseconds, and offers the video as a file. */
export async function saveClip(figure, { frames, go, title, milliseconds }) {
  const type = ["video/webm", "video/mp4"].find((each) => MediaRecorder.isTypeSupported(each));
  const canvas = element("canvas", {});
  const pen = canvas.getContext("2d");
  const paint = async () => {
    const image = await pictureOf(drawingOf(figure, { title, words: figure.status.textContent }));
    if (canvas.width !== image.width) Object.assign(canvas, { width: image.width, height: image.height + MARGIN });
    pen.fillStyle = getComputedStyle(figure).backgroundColor;
    pen.fillRect(0, 0, canvas.width, canvas.height);
    pen.drawImage(image, 0, 0);
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
  if (figure.isConnected) download(`${figure.key}.${type.split("/")[1]}`, new Blob(parts), type);
}

async function pictureOf(svg) {
  const image = new Image();
  image.src = URL.createObjectURL(new Blob([svg], { type: "image/svg+xml" }));
  await image.decode();
  URL.revokeObjectURL(image.src);
  return image;
}
