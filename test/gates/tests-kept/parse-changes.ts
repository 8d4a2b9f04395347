/** A labelled change of one file. */
export interface LabelledChange {
  readonly name: string;
  readonly path: string;
  readonly base: string;
  readonly candidate: string;
  /** The code of the finding that is expected first; absent for ordinary work. */
  readonly loss?: string;
}

/** Reads `=== loss CODE path: name` and `=== kept path: name`, each followed by base, `---` and candidate. */
export function parseChanges(text: string): readonly LabelledChange[] {
  return text
    .split(/^=== /m)
    .slice(1)
    .map((section) => {
      const end = section.indexOf('\n');
      const label = /^(?:kept|loss ([A-Z_]+)) (\S+): (.*)$/.exec(section.slice(0, end));
      const [base, candidate, ...more] = section.slice(end + 1).split(/^---\n/m);
      if (!label || base === undefined || candidate === undefined || more.length > 0)
        throw new Error(`expected a labelled change, found ${section.slice(0, end)}`);
      const [, loss, path = '', name = ''] = label;
      return { name, path, base, candidate, ...(loss === undefined ? {} : { loss }) };
    });
}
