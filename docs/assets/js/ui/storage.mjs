// What this browser remembers between pages and visits. In private windows it may last only until the page is left.
const memory = new Map(); // holds what could not be stored

/** The stored value, or the fallback if there is none or it cannot be read. */
export function load(key, fallback) {
  if (memory.has(key)) return memory.get(key) ?? fallback;
  try {
    return JSON.parse(localStorage.getItem(key)) ?? fallback;
  } catch {
    return fallback;
  }
}

/** Whether the value that was stored last outlives the page. */
export const isStored = (key) => !memory.has(key);

/** Stores a value; null removes it. Returns whether it outlives the page. */
export function save(key, value) {
  try {
    if (value === null) localStorage.removeItem(key);
    else localStorage.setItem(key, JSON.stringify(value));
    memory.delete(key);
    return true;
  } catch {
    memory.set(key, value);
    return false;
  }
}
