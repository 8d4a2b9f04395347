import type { CaseFile } from '../../../testing.ts';

/**
 * What an edit of a suite is to be judged as: `loss` by an error, `unseen` by nothing although it is one that only
 * executions show, `hint` by a note, `told` by a note at most, `kept` by nothing.
 */
export type EditLabel = 'loss' | 'unseen' | 'hint' | 'told' | 'kept';

/** One labelled edit, as the files that it leaves changed. */
export interface LabelledEdit {
  readonly label: EditLabel;
  /** How many places are to be told; absent where one is enough. */
  readonly places?: number;
  readonly name: string;
  readonly files: Readonly<Record<string, CaseFile>>;
}

/**
 * Reads a suite of files (`@@@ path`) and edits of it (`=== label: name`, or `=== loss 3: name` where so many places are
 * to be told; then for each file `@@@ path` or `@@@ old => new`, and `<<<`, the text as it stands, `>>>`, what takes its
 * place). Without `@@@` the first file is meant; a text without `<<<` is a new file.
 */
export function parseEdits(text: string): readonly LabelledEdit[] {
  const [head = '', ...edits] = text.split(/^=== /m);
  const suite = new Map(sections(head).map(({ path, body }) => [path, body]));
  const [first = ''] = suite.keys();
  return edits.map((edit) => {
    const end = edit.indexOf('\n');
    const said = /^(loss|unseen|hint|told|kept)(?: (\d+))?: (.*)$/.exec(edit.slice(0, end));
    if (!said) throw new Error(`expected a label, found ${edit.slice(0, end)}`);
    const rest = edit.slice(end + 1);
    const parts = sections(rest.startsWith('@@@ ') ? rest : `@@@ ${first}\n${rest}`);
    const files = parts.map(({ path, oldPath, body }) => [path, sides(suite, oldPath ?? path, path, body)]);
    return {
      label: said[1] as EditLabel,
      ...(said[2] === undefined ? {} : { places: Number(said[2]) }),
      name: said[3] ?? '',
      files: Object.fromEntries(files),
    };
  });
}

function sections(text: string): { path: string; oldPath?: string; body: string }[] {
  return text
    .split(/^@@@ /m)
    .slice(1)
    .map((section) => {
      const end = section.indexOf('\n');
      const [path = '', now] = section.slice(0, end).split(' => ');
      const body = section.slice(end + 1);
      return now === undefined ? { path, body } : { path: now, oldPath: path, body };
    });
}

function sides(suite: ReadonlyMap<string, string>, was: string, is: string, body: string): CaseFile {
  const base = suite.get(was);
  if (base === undefined) return { candidate: body };
  let candidate = base;
  for (const change of body.split(/^<<<[ \n]/m).slice(1)) {
    const [from = '', to = ''] = change.replace(/\n$/, '').split(/(?:^|\n)>>>(?: |\n|$)/);
    if (from === '' || candidate.split(from).length !== 2)
      throw new Error(`expected once in ${was}: ${from}`);
    candidate = candidate.replace(from, () => to);
  }
  return { base, candidate, ...(was === is ? {} : { oldPath: was }) };
}
