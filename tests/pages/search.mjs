// Asks the search of a built site in Node.js: `node search.mjs SITE`, questions as JSON on the input. Prints for each the
// pages that it finds, best first, each with its best section.
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import vm from "node:vm";

const site = process.argv[2];
const folder = join(site, "assets/javascripts/workers");
const name = readdirSync(folder).find((file) => /^search\..*\.js$/.test(file));

/** What a script of a worker finds around it. */
class Worker extends EventTarget {
  constructor() {
    super();
    Object.assign(this, { self: this, location: new URL(`https://site.example/${name}`), console, MessageEvent, URL });
    this.addEventListener = super.addEventListener.bind(this);
    this.dispatchEvent = super.dispatchEvent.bind(this);
    this.importScripts = (address) => this.run(address.split("/").pop());
    this.postMessage = (answer) => this.answered(answer);
  }
  run(file) {
    vm.runInContext(readFileSync(join(folder, file), "utf8"), this);
  }
  ask(data) {
    return new Promise((answered) => {
      this.answered = answered;
      this.dispatchEvent(new MessageEvent("message", { data }));
    });
  }
}

const worker = vm.createContext(new Worker());
worker.run(name);
const index = JSON.parse(readFileSync(join(site, "search/search_index.json"), "utf8"));
await worker.ask({ type: 0, data: { ...index, options: { suggest: false } } });
const found = {};
for (const question of JSON.parse(await text(process.stdin))) {
  const { data } = await worker.ask({ type: 2, data: question });
  found[question] = data.items.map((page) => page.reduce((best, each) => (each.score > best.score ? each : best)).location);
}
console.log(JSON.stringify(found));
