/** The same call with the same answer so often in a row tells the model, and so often ends the attempt. */
const tellAt = 3;
const endAt = 6;

/** Watches for a model that goes round in circles. */
export interface Repetition {
  /** Takes what was called and what came of it; what to do about it. */
  see(what: string): 'go-on' | 'tell' | 'end';
}

/** Over the last calls: circles of up to four calls are seen too. */
export function watchRepetition(): Repetition {
  const seen: string[] = [];
  return {
    see(what) {
      seen.push(what);
      if (seen.length > 64) seen.shift();
      const most = Math.max(...[1, 2, 3, 4].map((length) => rounds(seen, length)));
      if (most >= endAt) return 'end';
      return most === tellAt ? 'tell' : 'go-on';
    },
  };
}

/** How often the last `length` entries stand one after the other at the end. */
function rounds(seen: readonly string[], length: number): number {
  let count = 1;
  for (let at = seen.length - 1; at - length >= 0 && seen[at] === seen[at - length]; at -= 1)
    count += 1 / length;
  return seen.length < length ? 0 : Math.floor(count + 1e-9);
}
