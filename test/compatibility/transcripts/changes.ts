import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import type { Case } from './cases.ts';
import type { Block, Golden } from './golden.ts';
import { renderBlock } from './golden.ts';
import { renumber } from './normaliser.ts';

/** A message that reads differently now, wherever it is printed; within `group`, `case`, if it names them. */
interface TextChange {
  readonly kind: 'text';
  readonly old: string;
  readonly new: string;
}

/** A field of `--json` under another name (`data.stages[].name`); `new: null` where it is gone, `old: null` where it came. */
interface FieldChange {
  readonly kind: 'field';
  readonly old: string | null;
  readonly new: string | null;
}

/** Text that was added, as a regular expression (flags `gm`) of what the program prints; it differs between machines. */
interface AddedText {
  readonly kind: 'added';
  readonly new: string;
}

/** An exit code that is another one now. */
interface ExitChange {
  readonly kind: 'exit';
  readonly old: string;
  readonly new: string;
}

/** A whole transcript that is another one now: the new one is in `transcripts/changed/<group>.golden`. */
interface OutputChange {
  readonly kind: 'output';
}

/** An entry of the section `transcripts` of `changes.json`. */
export type Change = (TextChange | FieldChange | AddedText | ExitChange | OutputChange) & {
  readonly reason: string;
  readonly group?: string;
  readonly case?: string;
  /** Words with which the command line begins, without `--json`. */
  readonly command?: string;
};

/** The changes, and which of them something needed. */
export interface Changes {
  readonly entries: readonly Change[];
  readonly used: Set<Change>;
}

const path = fileURLToPath(new URL('../../../fixtures/compatibility/changes.json', import.meta.url));

/** The section `transcripts` of `changes.json`. Throws for an entry without a reason, and for one of no known kind. */
export function readChanges(text = readFileSync(path, 'utf8')): Changes {
  const { transcripts: entries } = JSON.parse(text) as { readonly transcripts: readonly Change[] };
  for (const entry of entries) {
    const shown = JSON.stringify(entry);
    if (typeof entry.reason !== 'string' || entry.reason.trim() === '')
      throw new Error(`an entry of changes.json has no reason: ${shown}`);
    if (!['text', 'field', 'added', 'exit', 'output'].includes(entry.kind))
      throw new Error(`an entry of changes.json is of no known kind: ${shown}`);
    if (entry.kind === 'output' && (entry.group === undefined || entry.case === undefined))
      throw new Error(`an entry of the kind \`output\` names \`group\` and \`case\`: ${shown}`);
  }
  return { entries, used: new Set() };
}

/** A transcript that is compared: as text, placeholders numbered by their order. */
interface Compared {
  readonly expected: string;
  readonly actual: string;
}

/**
 * What has to be equal: the golden with every change applied, and what the program printed without the fields that a
 * change says were added. `golden` and `changed` are of the group.
 */
export function toCompare(
  { group, name, either = [] }: Pick<Case, 'group' | 'name' | 'either'>,
  {
    golden,
    changed,
    actual,
  }: { readonly golden: Golden; readonly changed: Golden; readonly actual: readonly Block[] },
  { entries, used }: Changes,
): Compared {
  const ours = entries.filter((entry) => (entry.group ?? group) === group && (entry.case ?? name) === name);
  const whole = ours.find(({ kind }) => kind === 'output');
  const expected = (whole === undefined ? golden : changed).get(name);
  if (expected === undefined) throw new Error(`${group}: no golden of \`${name}\``);
  if (whole !== undefined) {
    used.add(whole);
    return { expected: textOf(expected, either), actual: textOf(actual, either) };
  }
  const apply = (block: Block, to: (block: Block, change: Change) => Block): Block => {
    let now = block;
    for (const change of ours) {
      if (!isOf(block, change)) continue;
      const next = to(now, change);
      if (renderBlock(next) !== renderBlock(now)) used.add(change);
      now = next;
    }
    return now;
  };
  return {
    expected: textOf(
      expected.map((block) => apply(block, onGolden)),
      either,
    ),
    actual: textOf(
      actual.map((block) => apply(block, onActual)),
      either,
    ),
  };
}

function textOf(blocks: readonly Block[], [first = '', ...others]: readonly string[]): string {
  const text = renumber(blocks.map(renderBlock).join(''))
    // The age of advisories is that of the day on which a golden was recorded.
    .replace(/\b\d+ days old\b/g, '<n> days old')
    // Requests that wait at the same time are answered in any order.
    .replace(/(?:^\| \{"jsonrpc":"2\.0","id":.*\n)+/gm, (answers) =>
      answers
        .split(/(?<=\n)/)
        .sort()
        .join(''),
    );
  return others.reduce((now, other) => now.replaceAll(other, first), text);
}

function isOf({ line }: Block, { command }: Change): boolean {
  const bare = line.replace(/^writ (?:--json )?/, '');
  return command === undefined || bare === command || bare.startsWith(`${command} `);
}

function onGolden(block: Block, change: Change): Block {
  if (change.kind === 'exit') return block.exit === change.old ? { ...block, exit: change.new } : block;
  if (change.kind === 'field')
    return change.old === null ? block : { ...block, out: withField(block.out, change.old, change.new) };
  if (change.kind !== 'text') return block;
  const [old, now] = [change.old, change.new];
  const inJson = [old, now].map((text) => JSON.stringify(text).slice(1, -1));
  const replace = (text: string): string =>
    text.replaceAll(old, now).replaceAll(inJson[0] ?? old, inJson[1] ?? now);
  const files = Object.entries(block.files).map(
    ([path, text]) => [path, text === undefined ? text : replace(text)] as const,
  );
  return { ...block, out: replace(block.out), err: replace(block.err), files: Object.fromEntries(files) };
}

function onActual(block: Block, change: Change): Block {
  if (change.kind === 'added') return withoutAdded(block, new RegExp(change.new, 'gm'));
  if (change.kind !== 'field' || change.old !== null || change.new === null) return block;
  return { ...block, out: withField(block.out, change.new, null) };
}

function withoutAdded(block: Block, added: RegExp): Block {
  const files = Object.entries(block.files).map(([path, text]) => [path, text?.replace(added, '')] as const);
  const [out, err] = [block.out.replace(added, ''), block.err.replace(added, '')];
  return { ...block, out, err, files: Object.fromEntries(files) };
}

/**
 * Renames or removes a field in a JSON document, or in one on each line. A document without the field, and a line that
 * is a JSON string or number, stay as they are, formatting included.
 */
function withField(text: string, old: string, now: string | null): string {
  const steps = old.split('.');
  const name = now === null ? undefined : now.split('.').at(-1);
  const change = (document: string, space: number): string | undefined => {
    try {
      const value: unknown = JSON.parse(document);
      const changed = renamed(value, steps, name);
      if (JSON.stringify(changed) === JSON.stringify(value)) return document;
      return JSON.stringify(changed, undefined, space) + (space > 0 ? '\n' : '');
    } catch {
      return undefined;
    }
  };
  return (
    change(text, 2) ??
    text
      .split('\n')
      .map((line) => change(line, 0) ?? line)
      .join('\n')
  );
}

function renamed(value: unknown, [step = '', ...rest]: readonly string[], name: string | undefined): unknown {
  if (typeof value !== 'object' || value === null) return value;
  const isList = step.endsWith('[]');
  const key = isList ? step.slice(0, -2) : step;
  const entries = Object.entries(value).flatMap(([at, inside]) => {
    if (at !== key) return [[at, inside] as const];
    if (rest.length === 0) return name === undefined ? [] : [[name, inside] as const];
    const next = (one: unknown): unknown => renamed(one, rest, name);
    return [[at, isList && Array.isArray(inside) ? inside.map(next) : next(inside)] as const];
  });
  return Array.isArray(value) ? value : Object.fromEntries(entries);
}
