import { rankFuzzy } from './fuzzy.ts';
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
