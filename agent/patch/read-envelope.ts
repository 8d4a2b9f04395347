/** Lines to find in a file, and their replacement. */
export interface EnvelopeHunk {
  /** A line above the hunk, to distinguish similar places. */
  readonly after?: string;
  readonly from: readonly string[];
  readonly to: readonly string[];
  /** For each line of `to`, the line of `from` that it leaves as it is; -1 for a new line. */
  readonly kept: readonly number[];
  readonly atEnd: boolean;
}

/** One section of a patch in the envelope form. */
export type EnvelopeSection =
  | { readonly kind: 'add'; readonly path: string; readonly lines: readonly string[] }
  | { readonly kind: 'delete'; readonly path: string }
  | {
      readonly kind: 'update';
      readonly path: string;
      readonly moveTo?: string;
      readonly hunks: readonly EnvelopeHunk[];
    };

/** What is wrong with a patch, for the model that wrote it. */
export class EnvelopeFault extends Error {}

const header = /^\*\*\* (Add|Delete|Update) File: (.+)$/;

/**
 * Reads a patch in the envelope form: `*** Begin Patch`, sections `*** Add File: P`, `*** Delete File: P`,
 * `*** Update File: P` with an optional `*** Move to: P` and hunks that begin with `@@`, `*** End Patch`. EnvelopeFault
 * names the line.
 */
export function readEnvelope(text: string): readonly EnvelopeSection[] {
  const lines = text.replace(/\r\n/g, '\n').trim().split('\n');
  if (lines[0]?.trim() !== '*** Begin Patch')
    throw new EnvelopeFault('it has to begin with `*** Begin Patch`');
  if (lines.at(-1)?.trim() !== '*** End Patch') throw new EnvelopeFault('it has to end with `*** End Patch`');
  const sections: EnvelopeSection[] = [];
  const end = lines.length - 1;
  for (let at = 1; at < end; ) {
    const [, verb, name = ''] = header.exec(lines[at] ?? '') ?? [];
    if (verb === undefined)
      throw new EnvelopeFault(`line ${at + 1}: expected \`*** Add|Delete|Update File: PATH\``);
    const path = name.trim();
    at += 1;
    const body: string[] = [];
    while (at < end && !header.test(lines[at] ?? '')) {
      body.push(lines[at] ?? '');
      at += 1;
    }
    const first = at - body.length + 1;
    if (verb === 'Delete') {
      if (body.some((line) => line.trim() !== ''))
        throw new EnvelopeFault(`line ${first}: nothing follows a deletion`);
      sections.push({ kind: 'delete', path });
    } else if (verb === 'Add') sections.push({ kind: 'add', path, lines: readAdded(body, first) });
    else sections.push(readUpdate(path, body, first));
  }
  if (sections.length === 0) throw new EnvelopeFault('it changes nothing');
  return sections;
}

function readAdded(body: readonly string[], first: number): readonly string[] {
  return body.map((line, index) => {
    if (!line.startsWith('+'))
      throw new EnvelopeFault(`line ${first + index}: a line of a new file begins with \`+\``);
    return line.slice(1);
  });
}

function readUpdate(path: string, body: readonly string[], first: number): EnvelopeSection {
  const moved = /^\*\*\* Move to: (.+)$/.exec(body[0] ?? '')?.[1]?.trim();
  const hunks: { after?: string; from: string[]; to: string[]; kept: number[]; atEnd: boolean }[] = [];
  for (let index = moved === undefined ? 0 : 1; index < body.length; index += 1) {
    const line = body[index] ?? '';
    const sign = line[0] ?? ' ';
    const current = hunks.at(-1);
    if (line.startsWith('@@')) {
      const after = line.slice(2).trim();
      hunks.push({ ...(after === '' ? {} : { after }), from: [], to: [], kept: [], atEnd: false });
    } else if (line === '*** End of File' && current) current.atEnd = true;
    else {
      const hunk = current ?? { from: [], to: [], kept: [], atEnd: false };
      if (!current) hunks.push(hunk);
      if (sign !== '+' && sign !== '-' && sign !== ' ')
        throw new EnvelopeFault(`line ${first + index}: a line of a hunk begins with \` \`, \`-\` or \`+\``);
      if (sign !== '+') hunk.from.push(line.slice(1));
      if (sign === '-') continue;
      hunk.to.push(line.slice(1));
      hunk.kept.push(sign === ' ' ? hunk.from.length - 1 : -1);
    }
  }
  const changing = hunks.filter(({ from, to }) => from.length > 0 || to.length > 0);
  if (changing.length === 0 && moved === undefined)
    throw new EnvelopeFault(`line ${first - 1}: the section changes nothing`);
  return { kind: 'update', path, ...(moved === undefined ? {} : { moveTo: moved }), hunks: changing };
}
