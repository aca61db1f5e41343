// What this browser remembers between pages and visits. In private windows it may last only until the page is left.
const memory = new Map();

/** The stored value, or the fallback if there is none or it cannot be read. */
export function load(key, fallback) {
  try {
    return JSON.parse(localStorage.getItem(key)) ?? memory.get(key) ?? fallback;
  } catch {
    return memory.get(key) ?? fallback;
  }
}

/** Stores a value; null removes it. Returns whether it outlives the page. */
export function save(key, value) {
  memory.set(key, value);
  try {
    if (value === null) localStorage.removeItem(key);
    else localStorage.setItem(key, JSON.stringify(value));
    return true;
  } catch {
    return false;
  }
}
