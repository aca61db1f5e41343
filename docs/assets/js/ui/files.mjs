// What leaves the page by the reader's hand: downloads and the clipboard. Nothing is ever sent anywhere.
import { element } from "./element.mjs";

/** Offers a text as a file to save. */
export function download(name, text, type = "text/plain") {
  const address = URL.createObjectURL(new Blob([text], { type: `${type};charset=utf-8` }));
  element("a", { href: address, download: name }).click();
  setTimeout(() => URL.revokeObjectURL(address), 1000); // some browsers read it after the click
}

/** Copies a text; false if the browser does not let us (old, or a page without https). */
export async function copy(text) {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    return false;
  }
}
