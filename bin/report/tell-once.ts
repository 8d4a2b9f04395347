/** Characters from which on a repeated sentence is not told again; what is shorter is read faster than looked up. */
const shortest = 40;
/** Places of a text at which a sentence may begin that was told; texts are a stranger's. */
const most = 8;

/**
 * A teller for one report: of each text it answers what is new in it. An end behind `: ` that was told before is
 * `(said above)`; a text that was told as a whole, or as the end of another, is empty. Pure but for what it was told.
 */
export function tellOnce(): (text: string) => string {
  const told = new Set<string>();
  return (text) => {
    const starts = [0, ...[...text.matchAll(/: /g)].map(({ index }) => index + 2)].slice(0, most);
    const known = starts.find((start) => told.has(text.slice(start)));
    for (const start of starts) if (text.length - start >= shortest) told.add(text.slice(start));
    if (known === undefined) return text;
    return known === 0 ? '' : `${text.slice(0, known - 2)} (said above)`;
  };
}
