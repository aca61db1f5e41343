// The worker that searches. It loads the theme's worker with the first message, and asks it in the words of the index: the
// theme takes every word for the beginning of one, so "in" finds "increasing", but "rewards" does not find "reward".
{
  const THIS = self.document?.currentScript?.src ?? location.href; // a site on a disk has frames for workers
  const FILLERS = new Set(("a all am an and are at but can did do does doing for from get gets getting give go goes going grpo " +
    "happen has have how i if in is it its keep keeps me my of on or s should so some than that the their them then there they " +
    "this to use using vs was we went what when where which while who why will with you your").split(" "));
  const terms = []; // what people type for a section, and the token that the section has for it in the index

  const words = (text) => text.toLowerCase().replace(/n['’]t\b/g, " not").match(/[\p{L}\p{N}]+/gu) ?? [];
  const stem = (word) => word.replace(/^(\D{4,}?)(?:ing|ed|es|s|(?<=\D{5})e)$/, "$1");
  const telling = (text) => {
    const told = words(text).filter((word) => !FILLERS.has(word));
    return told.length ? told : words(text);
  };

  function indexed(section) {
    const tags = section.tags?.map((term) => {
      const stems = telling(term).map(stem);
      terms.push({ stems, token: `_${stems.join("_")}`, least: term.startsWith("=") ? 1 : 0.5 });
      return terms.at(-1).token;
    });
    return { ...section, tags };
  }

  // A term outweighs the words of headings, and a longer term a shorter one.
  function asked(text) {
    const kept = telling(text);
    const stems = kept.map(stem);
    const holds = (term) => stems.join("") === term.join("") || term.every((each) => stems.includes(each));
    const meant = terms.filter((term) => holds(term.stems) && term.stems.length >= term.least * stems.length);
    const plain = text.replace(/(\S)-/g, "$1 ").replace(/([\p{L}\p{N}_]+)[+*~^:']*/gu, (_, word) =>
      word.includes("_") ? word : kept.includes(word.toLowerCase()) ? stem(word.toLowerCase()) : "");
    return [plain, ...new Set(meant.map(({ stems, token }) => `${token}^${100 ** Math.min(stems.length, 4)}`))].join(" ");
  }

  const answer = self.postMessage.bind(self);
  self.postMessage = (message) => {
    for (const section of message.data?.items?.flat() ?? []) {
      delete section.tags;
      for (const word of Object.keys(section.terms ?? {})) if (word.startsWith("_")) delete section.terms[word];
    }
    answer(message);
  };

  let loaded = false;
  addEventListener("message", async ({ data }) => {
    if (data.ready) return;
    if (typeof data.data === "string") data.data = asked(data.data);
    else data.data.docs = data.data.docs.map(indexed);
    data.ready = true;
    if (loaded) return;
    loaded = true;
    await importScripts(THIS.replace("/search.", "/theme-search."));
    dispatchEvent(new MessageEvent("message", { data }));
  });
}
