/** A labelled change of one file. */
export interface LabelledChange {
  readonly name: string;
  readonly path: string;
  readonly base: string;
  readonly candidate: string;
  /** How many cases are to be told of; absent where one is enough. */
  readonly places?: number;
  /** The code of the finding that is expected first; absent for ordinary work. */
  readonly loss?: string;
}

/** Reads `=== loss CODE path: name`, `=== loss 3 CODE path: name` and `=== kept path: name`, each followed by base, `---` and candidate. */
export function parseChanges(text: string): readonly LabelledChange[] {
  return text
    .split(/^=== /m)
    .slice(1)
    .map((section) => {
      const end = section.indexOf('\n');
      const label = /^(?:kept|loss (?:(\d+) )?([A-Z_]+)) (\S+): (.*)$/.exec(section.slice(0, end));
      const [base, candidate, ...more] = section.slice(end + 1).split(/^---\n/m);
      if (!label || base === undefined || candidate === undefined || more.length > 0)
        throw new Error(`expected a labelled change, found ${section.slice(0, end)}`);
      const [, places, loss, path = '', name = ''] = label;
      return {
        name,
        path,
        base,
        candidate,
        ...(places === undefined ? {} : { places: Number(places) }),
        ...(loss === undefined ? {} : { loss }),
      };
    });
}
