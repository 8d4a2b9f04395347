import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { transcripts } from './cases.ts';

/** What one command line printed and wrote. */
export interface Block {
  /** As the case has it: `writ …`, `--json` included, or the script of a line for `sh`. */
  readonly line: string;
  /** An exit code, or the signal that ended the process. */
  readonly exit: string;
  readonly out: string;
  readonly err: string;
  /** Text of the files that the case names as outputs; `undefined` where there is none. */
  readonly files: Readonly<Record<string, string | undefined>>;
}

/** The transcripts of a group by the names of its cases. */
export type Golden = ReadonlyMap<string, readonly Block[]>;

/** The golden of a group; of no case where it has none yet. `changed` holds new texts, see `changes.ts`. */
export function readGolden(group: string, folder: '' | 'changed' = ''): Golden {
  const path = goldenPath(group, folder);
  return existsSync(path) ? parseGolden(readFileSync(path, 'utf8')) : new Map();
}

/** Where the golden of a group is. */
export function goldenPath(group: string, folder: '' | 'changed' = ''): string {
  return join(transcripts, folder, `${group}.golden`);
}

/**
 * A golden as text: `# name`, `$ command line`, `= exit code`, then stdout with `| ` before each line, stderr with `! `, and
 * each output file with `@ path` and `+ ` before its lines. A last line without a line end has `~` for the space.
 */
export function renderGolden(golden: Golden): string {
  return [...golden].map(([name, blocks]) => `# ${name}\n${blocks.map(renderBlock).join('')}`).join('\n');
}

/** One block, as the golden has it. */
export function renderBlock({ line, exit, out, err, files }: Block): string {
  const written = Object.entries(files).map(
    ([path, text]) => `@ ${path}${text === undefined ? ' is missing' : ''}\n${marked('+', text ?? '')}`,
  );
  return `$ ${line}\n= ${exit}\n${marked('|', out)}${marked('!', err)}${written.join('')}`;
}

function marked(mark: string, text: string): string {
  if (text === '') return '';
  const lines = text.split('\n');
  const last = lines.pop() ?? '';
  const whole = lines.map((line) => (line === '' ? `${mark}\n` : `${mark} ${line}\n`));
  return `${whole.join('')}${last === '' ? '' : `${mark}~${last}\n`}`;
}

/** A golden out of its text. */
export function parseGolden(text: string): Golden {
  const golden = new Map<string, Block[]>();
  let blocks: Block[] = [];
  for (const line of text.split('\n')) {
    const [mark, rest] = [line.slice(0, 1), line.slice(2)];
    if (mark === '#') {
      blocks = [];
      golden.set(rest, blocks);
    } else if (mark === '$') {
      blocks.push({ line: rest, exit: '', out: '', err: '', files: {} });
    } else if (mark !== '') {
      const block = blocks.pop();
      if (block === undefined) throw new Error(`a golden has \`${line}\` before a command line`);
      blocks.push(withLine(block, mark, line.length === 1 ? '\n' : `${rest}${line[1] === '~' ? '' : '\n'}`));
    }
  }
  return golden;
}

function withLine(block: Block, mark: string, text: string): Block {
  if (mark === '=') return { ...block, exit: text.trimEnd() };
  if (mark === '|') return { ...block, out: block.out + text };
  if (mark === '!') return { ...block, err: block.err + text };
  if (mark === '@') {
    const [, path = '', missing] = /^(.*?)( is missing)?\n$/.exec(text) ?? [];
    return { ...block, files: { ...block.files, [path]: missing === undefined ? '' : undefined } };
  }
  const path = Object.keys(block.files).at(-1) ?? '';
  return { ...block, files: { ...block.files, [path]: (block.files[path] ?? '') + text } };
}
