import { pathToken } from './path-token.ts';
import { plainText } from './plain-text.ts';

/** A command as a list shows it: its words without the slash, what stands behind them, what it does. */
export interface OfferedCommand {
  readonly name: string;
  readonly arguments: string;
  readonly description: string;
  /** One of many that its first word takes: it is offered behind that alone. */
  readonly isBehind?: true;
}

export interface Choice {
  /** What takes the place of the token. */
  readonly insert: string;
  readonly name: string;
  readonly detail: string;
  /** Nothing has to be typed behind it. */
  readonly isWhole: boolean;
}

/** A list that is open, for the token that begins at `from`. */
export interface Completion {
  readonly kind: 'command' | 'path';
  readonly from: number;
  readonly sought: string;
  readonly choices: readonly Choice[];
  readonly chosen: number;
  /** Paths that were offered last, before they were ranked, and which question that answers. */
  readonly paths: readonly string[];
  readonly id: number;
}

/** Paths of one answer that are looked at. */
const mostPaths = 2000;

/** The list for a text and its cursor; `undefined` where no token is being written. `id` is for a new question. */
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

/** With the answer to its question; an answer to another one changes nothing. */
export function withOffered(
  open: Completion | undefined,
  id: number,
  items: readonly string[],
): Completion | undefined {
  if (open?.kind !== 'path' || open.id !== id) return open;
  const paths = items.slice(0, mostPaths).filter((path) => path !== '' && isTypable(path));
  return { ...open, paths, choices: pathChoices(paths, open.sought), chosen: 0 };
}

/** The choice so many further down, from the last to the first and back. */
export function chooseBy(open: Completion, by: number): Completion {
  const count = open.choices.length;
  return { ...open, chosen: count === 0 ? 0 : (open.chosen + by + count) % count };
}

/** Whether a text can hold it as it is, on one line. */
function isTypable(path: string): boolean {
  return plainText(path) === path && !path.includes('\n');
}

/** What a longer text holds is no name of a command. */
const longest = 64;

function commandsFor(sought: string, commands: readonly OfferedCommand[]): readonly Choice[] {
  const isName = sought.length <= longest && !sought.includes('\n') && sought.isWellFormed();
  return isName ? commandChoices(commands, sought) : [];
}

function commandChoices(commands: readonly OfferedCommand[], sought: string): readonly Choice[] {
  // Behind a space stand arguments, unless a command of two words begins so, or what it takes is known.
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

/** Characters of what is sought and of a candidate that are looked at. */
const most = { sought: 128, candidate: 1024 };

/**
 * The candidates that hold the letters of `sought` in their order, the best first: equal, then a beginning, then the
 * beginning of a word, then a part, then scattered letters; of equals the shorter, then the one given first. Whatever
 * the case; all as they are where nothing is sought. Looks at each letter of each candidate once.
 */
export function rankFuzzy<T>(
  candidates: readonly T[],
  sought: string,
  nameOf: (one: T) => string,
): readonly T[] {
  const letters = sought.slice(0, most.sought).toLowerCase();
  if (letters === '') return candidates;
  return candidates
    .map((one, index) => ({ one, index, name: nameOf(one).slice(0, most.candidate).toLowerCase() }))
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

/** 4, and more for each letter between the first and the last one that is not meant. */
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
