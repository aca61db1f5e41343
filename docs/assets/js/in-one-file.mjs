// `make offline` puts all scripts into one file, and this at its beginning: no widget can be loaded from a disk.
globalThis.widgetInThisFile = (name) => import(`./widgets/${name}.mjs`);
