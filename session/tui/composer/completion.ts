/* The list of commands or paths that completes what is typed. */
import { type Line, span, visible } from '../../screen/line.ts';
import { cellsOf } from '../../screen/wrap.ts';
import { plainText } from './buffer.ts';

export interface OfferedCommand {
  readonly name: string;
  readonly arguments: string;
  readonly description: string;
  /** One of many values of its first word: it is offered behind that word alone. */
  readonly isBehind?: true;
}

export interface Choice {
  readonly insert: string;
  readonly name: string;
  readonly detail: string;
  readonly isWhole: boolean;
}

export interface Completion {
  readonly kind: 'command' | 'path';
  readonly from: number;
  readonly sought: string;
  readonly choices: readonly Choice[];
  readonly chosen: number;
  readonly paths: readonly string[];
  readonly id: number;
}

/** Limit of paths in one answer. */
const mostPaths = 2000;

export function completionFor(
  text: string,
  cursor: number,
  commands: readonly OfferedCommand[],
  before: Completion | undefined,
  id: number,
): Completion | undefined {
  const choices = text.startsWith('/') && cursor > 0 ? commandsFor(text.slice(1, cursor), commands) : [];
  if (choices.length > 0) {
    const none = { paths: [], id: 0 };
    return { kind: 'command', from: 0, sought: text.slice(1, cursor), choices, chosen: 0, ...none };
  }
  const token = pathToken(text, cursor);
  if (token === undefined) return undefined;
  const { from, sought } = token;
  const isSame = before?.kind === 'path' && before.from === from;
  if (isSame && before.sought === sought) return before;
  const paths = isSame ? before.paths : [];
  return { kind: 'path', from, sought, choices: pathChoices(paths, sought), chosen: 0, paths, id };
}

export function withOffered(
  open: Completion | undefined,
  id: number,
  items: readonly string[],
): Completion | undefined {
  if (open?.kind !== 'path' || open.id !== id) return open;
  const paths = items.slice(0, mostPaths).filter((path) => path !== '' && isTypable(path));
  return { ...open, paths, choices: pathChoices(paths, open.sought), chosen: 0 };
}

export function chooseBy(open: Completion, by: number): Completion {
  const count = open.choices.length;
  return { ...open, chosen: count === 0 ? 0 : (open.chosen + by + count) % count };
}

function isTypable(path: string): boolean {
  return plainText(path) === path && !path.includes('\n');
}

const longest = 64;

function commandsFor(sought: string, commands: readonly OfferedCommand[]): readonly Choice[] {
  const isName = sought.length <= longest && !sought.includes('\n') && sought.isWellFormed();
  return isName ? commandChoices(commands, sought) : [];
}

function commandChoices(commands: readonly OfferedCommand[], sought: string): readonly Choice[] {
  // Behind a space are arguments, unless a command of two words begins so or its values are known.
  const isSpaced = /\s/.test(sought);
  const lower = sought.toLowerCase();
  const [verb = '', rest = ''] = lower.split(/\s+(.*)/s);
  const own = commands.filter(
    ({ name, isBehind }) =>
      isBehind !== true && (!isSpaced || (/\s/.test(name) && name.toLowerCase().startsWith(lower))),
  );
  const behind = commands.filter(({ name, isBehind }) => isBehind === true && name.startsWith(`${verb} `));
  const found = [
    ...rankFuzzy(own, sought, ({ name }) => name),
    ...(isSpaced
      ? rankFuzzy(behind, rest, (one) => `${one.name.slice(verb.length + 1)} ${one.description}`)
      : []),
  ];
  return found.map((command) => ({
    insert: command.arguments === '' ? `/${command.name}` : `/${command.name} `,
    name: `/${command.name}${command.arguments === '' ? '' : ` ${command.arguments}`}`,
    detail: command.description,
    isWhole: command.arguments === '',
  }));
}

function pathChoices(paths: readonly string[], sought: string): readonly Choice[] {
  return rankFuzzy(paths, sought, (path) => path).map((path) => {
    const isDirectory = path.endsWith('/');
    const quoted = /[\s"]/.test(path) ? `@"${path}${isDirectory ? '' : '"'}` : `@${path}`;
    return { insert: isDirectory ? quoted : `${quoted} `, name: path, detail: '', isWhole: !isDirectory };
  });
}

const searched = { sought: 128, candidate: 1024 };

/**
 * Ranks candidates that contain the letters of `sought` in order: equal, prefix, word start, substring, scattered;
 * then by length. Case is ignored.
 */
export function rankFuzzy<T>(
  candidates: readonly T[],
  sought: string,
  nameOf: (one: T) => string,
): readonly T[] {
  const letters = sought.slice(0, searched.sought).toLowerCase();
  if (letters === '') return candidates;
  return candidates
    .map((one, index) => ({ one, index, name: nameOf(one).slice(0, searched.candidate).toLowerCase() }))
    .map((entry) => ({ ...entry, score: scoreOf(entry.name, letters) }))
    .filter(({ score }) => score !== undefined)
    .sort((a, b) => (a.score ?? 0) - (b.score ?? 0) || a.name.length - b.name.length || a.index - b.index)
    .map(({ one }) => one);
}

/** Smaller is better; `undefined` where the letters are not there. */
function scoreOf(name: string, letters: string): number | undefined {
  if (name === letters) return 0;
  if (name.startsWith(letters)) return 1;
  const at = name.indexOf(letters);
  if (at > 0) return /[\p{L}\p{N}]/u.test(name.charAt(at - 1)) ? 3 : 2;
  return scattered(name, letters);
}

/** 4 plus the letters between the first and the last match that do not match. */
function scattered(name: string, letters: string): number | undefined {
  let [found, first] = [0, 0];
  for (let at = 0; at < name.length; at += 1) {
    if (name[at] !== letters[found]) continue;
    if (found === 0) first = at;
    found += 1;
    if (found === letters.length) return 4 + at - first + 1 - letters.length;
  }
  return undefined;
}

const longestToken = 1024;

/** The path at the cursor: behind an `@` that begins a word, in quotes if it contains spaces. */
function pathToken(
  text: string,
  cursor: number,
): { readonly from: number; readonly sought: string } | undefined {
  const least = Math.max(0, cursor - longestToken);
  const near = text.slice(least, cursor);
  for (let at = near.lastIndexOf('@'); at >= 0; at = at === 0 ? -1 : near.lastIndexOf('@', at - 1)) {
    const behind = near.slice(at + 1);
    const isQuoted = behind.startsWith('"');
    const sought = isQuoted ? behind.slice(1) : behind;
    if ((isQuoted ? /["\n]/ : /\s/).test(sought)) {
      if (/[\n]/.test(sought)) return undefined;
      continue;
    }
    const from = least + at;
    if (!sought.isWellFormed()) return undefined;
    if (from === 0 || /\s/.test(text.charAt(from - 1))) return { from, sought };
  }
  return undefined;
}

const listLimits = { rows: 8, nameCells: 32 };

export function drawCompletion(
  { choices, chosen }: Completion,
  columns: number,
  rows: number,
): readonly Line[] {
  const room = Math.min(listLimits.rows, rows);
  if (room <= 0) return [];
  const isCut = choices.length > room && room > 1;
  const count = Math.min(choices.length, isCut ? room - 1 : room);
  const start = Math.max(0, Math.min(chosen - Math.floor(count / 2), choices.length - count));
  const shown = choices
    .slice(start, start + count)
    .map(({ name, detail }) => ({ name: visible(name), detail: visible(detail) }));
  const widest = Math.max(0, ...shown.map(({ name }) => cellsOf(name)));
  const cells = Math.min(widest, listLimits.nameCells, columns);
  const lines = shown.map(({ name, detail }, index) => {
    const isChosen = start + index === chosen;
    const gap = ' '.repeat(Math.max(1, cells - cellsOf(name) + 2));
    const tone = isChosen ? 'selected' : 'plain';
    return [
      span(isChosen ? '› ' : '  ', tone),
      span(name, tone),
      ...(detail === '' ? [] : [span(gap + detail, 'dim')]),
    ];
  });
  return isCut ? [...lines, [span(`  ${chosen + 1} of ${choices.length}`, 'dim')]] : lines;
}
