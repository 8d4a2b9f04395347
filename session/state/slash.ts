/** Parses a message to a session: text for a model, or one of the slash commands that every screen knows. */
import { WritError } from '../../core/base/errors.ts';
import { budgetBounds } from '../../engine/config/bounds.ts';
import { maxObjectiveBytes } from './goal.ts';
import { type SettingChange, sessionContexts } from './settings.ts';
import { slashCommands, type slashWords } from './slash-words.ts';
import { repairs } from './work.ts';

export type Spoken =
  | TurnWords
  /** A new thread from before a message; absent: from here. */
  | { readonly kind: 'fork-at'; readonly before?: MessageName }
  /** Acts immediately, also while a turn runs. */
  | { readonly kind: 'set'; readonly change: SettingChange }
  /** Shortens the conversation that a model is sent. */
  | { readonly kind: 'cut'; readonly how: 'clear' | 'compact' }
  /** Goes back before a message; without one it lists them. */
  | { readonly kind: 'rewind'; readonly before?: MessageName; readonly what: RewindWhat }
  /** Limit of the session in USD; absent: no limit. */
  | { readonly kind: 'budget'; readonly limitUsd?: number }
  | Deed
  | { readonly kind: 'goal'; readonly words: GoalWords }
  /** Lists the commands that a model runs in the background, shows what one printed, or stops it. */
  | ({ readonly kind: 'commands' } & CommandsAsk)
  /** Shows the question about the held change again. */
  | { readonly kind: 'review'; readonly text: string }
  /** Undoes the run that `text` names, or the last one; `RUN/TASK` and `/TASK` name a single task. */
  | { readonly kind: 'undo'; readonly text: string }
  /** Executes a plan that failed, with another limit of repairs if one is given. */
  | { readonly kind: 'plan-continue'; readonly limit?: number };

/** A message: how many it is from the end, 1 for the last, or the beginning of the id of its transcript entry. */
export type MessageName = number | string;

/** Absent `id`: all are listed. */
export interface CommandsAsk {
  readonly id?: string;
  readonly stops?: true;
}

export type RewindWhat = 'talk' | 'files' | 'both';

/** Messages that start a turn of a model. */
export type TurnWords =
  | { readonly kind: 'plain'; readonly text: string }
  /** A read-only question. */
  | { readonly kind: 'ask'; readonly text: string }
  /** A draft is wanted; without text, of what was said last. */
  | { readonly kind: 'draft'; readonly text: string };

/** Local commands: each runs in its own turn, and no model is called. */
export type Deed =
  /** A command of the user, run on a copy of the working tree. */
  | { readonly kind: 'shell'; readonly command: string }
  /** Verifies the seal of a commit or run; an empty target is the last commit of the thread. */
  | { readonly kind: 'verify'; readonly target: string };

export type GoalWords =
  | { readonly kind: 'start'; readonly objective: string }
  /** Resumes the blocked goal. */
  | { readonly kind: 'go-on' }
  | { readonly kind: 'status' }
  | { readonly kind: 'cancel'; readonly reason?: string };

/** Model ids such as `gemini-2.5-pro` and `org/name:8b`. */
const modelId = /^[\w@][\w.:@/+-]{0,199}$/;
/** A commit, run or branch by its name, or the beginning of an id; never a path. */
const verifiable = /^[0-9A-Za-z][\w-]{2,99}$/;
/** `RUN`, `TASK`, `RUN TASK` or `RUN/TASK`; a run by its id or the beginning of it. */
const undoable = /^(?:([0-9a-f][0-9a-f-]{3,35})(?:(?:\s+|\/)(task-\d{1,4}))?|(task-\d{1,4}))$/;
/** Characters of a shell command. */
const maxCommand = 8000;
const shellName = 'shell';

/**
 * Parses the trimmed text after the name; `undefined` if it is another form. UNSUPPORTED_OPERATION if the form is right
 * and the value is not.
 */
type Read = (rest: string) => Spoken | undefined;

const readers: Readonly<Record<(typeof slashWords)[number][0], Read>> = {
  '/ask TEXT': (text) => (text === '' ? undefined : { kind: 'ask', text }),
  '/draft [TEXT]': (text) => ({ kind: 'draft', text }),
  '/shell COMMAND'(command) {
    if (command === '') return undefined;
    if (command.length <= maxCommand && !command.includes('\0')) return { kind: 'shell', command };
    throw unsupported(
      `expected a command of at most ${maxCommand} characters and without NUL, found ${command.length}`,
      { expected: maxCommand, found: command.length },
    );
  },
  '/verify [COMMIT|RUN]': (rest) =>
    rest === '' || verifiable.test(rest) ? { kind: 'verify', target: rest } : undefined,
  '/plan continue [N]'(rest) {
    const [found, more] = /^continue(?:\s+([0-9]{1,4}))?$/.exec(rest) ?? [];
    if (found === undefined) return undefined;
    if (more === undefined) return { kind: 'plan-continue' };
    const limit = Number(more);
    if (limit >= 1 && limit <= repairs.cap) return { kind: 'plan-continue', limit };
    throw unsupported(`expected 1 to ${repairs.cap} repairs, found ${more}`, {
      expected: [1, repairs.cap],
      found: limit,
    });
  },
  '/goal start [OBJECTIVE]'(rest) {
    const objective = behindVerb('start', rest);
    if (objective === undefined) return undefined;
    if (objective === '') return { kind: 'goal', words: { kind: 'go-on' } };
    const size = Buffer.byteLength(objective);
    if (size <= maxObjectiveBytes) return { kind: 'goal', words: { kind: 'start', objective } };
    throw new WritError('INVALID_BODY', {
      message: `expected a goal of 1 to ${maxObjectiveBytes} octets, found ${size}`,
      detail: { found: size },
    });
  },
  '/goal status': (rest) => (rest === 'status' ? { kind: 'goal', words: { kind: 'status' } } : undefined),
  '/goal cancel [REASON]'(rest) {
    const reason = behindVerb('cancel', rest);
    if (reason === undefined) return undefined;
    return { kind: 'goal', words: { kind: 'cancel', ...(reason === '' ? {} : { reason }) } };
  },
  '/budget USD|off'(rest) {
    if (rest === 'off') return { kind: 'budget' };
    const [, usd] = /^\$?(\d{1,9}(?:\.\d{1,6})?)$/.exec(rest) ?? [];
    if (usd === undefined) return undefined;
    const limitUsd = Number(usd);
    const { min, max } = budgetBounds;
    if (limitUsd >= min && limitUsd <= max) return { kind: 'budget', limitUsd };
    throw unsupported(`expected ${min} to ${max} USD, found ${usd}`, {
      expected: [min, max],
      found: limitUsd,
    });
  },
  '/network allow|deny': (rest) =>
    rest === 'allow' || rest === 'deny' ? { kind: 'set', change: { networkAccess: rest } } : undefined,
  '/review [on|off]'(rest) {
    if (rest === '') return { kind: 'review', text: '/review' };
    return rest === 'on' || rest === 'off' ? { kind: 'set', change: { review: rest } } : undefined;
  },
  '/undo [RUN] [TASK]'(rest) {
    if (rest === '') return { kind: 'undo', text: '' };
    const [, run = '', ofRun, ofLast] = undoable.exec(rest) ?? [];
    const task = ofRun ?? ofLast;
    if (run === '' && task === undefined) return undefined;
    return { kind: 'undo', text: task === undefined ? run : `${run}/${task}` };
  },
  '/context dev|review|research'(rest) {
    const context = Object.hasOwn(sessionContexts, rest) ? sessionContexts[rest] : undefined;
    return context === undefined ? undefined : { kind: 'set', change: { context } };
  },
  '/model NAME': (model) => (modelId.test(model) ? { kind: 'set', change: { model } } : undefined),
  '/rewind [N|ENTRY] [talk|files|both]'(rest) {
    if (rest === '') return { kind: 'rewind', what: 'talk' };
    const [, name = '', what = 'talk'] = /^(\S+)(?:\s+(talk|files|both))?$/.exec(rest) ?? [];
    const before = readMessageName(name);
    return before === undefined ? undefined : { kind: 'rewind', before, what: what as RewindWhat };
  },
  '/fork [N|ENTRY]'(rest) {
    if (rest === '') return { kind: 'fork-at' };
    const before = readMessageName(rest);
    return before === undefined ? undefined : { kind: 'fork-at', before };
  },
  '/ps [N] [stop]'(rest) {
    if (rest === '') return { kind: 'commands' };
    const [, id, stop] = /^([1-9]\d{0,5})(\s+stop)?$/.exec(rest) ?? [];
    if (id === undefined) return undefined;
    return { kind: 'commands', id, ...(stop === undefined ? {} : { stops: true }) };
  },
  '/compact': (rest) => (rest === '' ? { kind: 'cut', how: 'compact' } : undefined),
  '/clear': (rest) => (rest === '' ? { kind: 'cut', how: 'clear' } : undefined),
};

/** A number has at most four digits and no zero before it, as ids have. */
function readMessageName(word: string): MessageName | undefined {
  if (/^[1-9]\d{0,3}$/.test(word)) return Number(word);
  return /^[0-9a-f][0-9a-f-]{3,35}$/.test(word) ? word : undefined;
}

/** Parses a message. UNSUPPORTED_OPERATION for an unknown command, which is never sent to a model as words. */
export function readSpoken(text: string): Spoken {
  const trimmed = text.trim();
  const typed = trimmed.startsWith('!') ? `/${shellName} ${trimmed.slice(1).trim()}` : trimmed;
  if (!typed.startsWith('/')) return { kind: 'plain', text };
  const [, name = '', rest = ''] = /^\/(\S*)\s*(.*)$/s.exec(typed) ?? [];
  const own = slashCommands.filter((one) => one.name === name);
  for (const { form } of own) {
    const spoken = readers[form](rest);
    if (spoken !== undefined) return spoken;
  }
  const commands = slashCommands.map(({ form }) => form);
  if (own.length > 0) {
    const forms = own.map(({ form }) => form).join('` or `');
    throw unsupported(`expected \`${forms}\`, found \`${trimmed.slice(0, 60)}\``, { commands });
  }
  const unknown = name.slice(0, 40);
  throw unsupported(
    `there is no command \`/${unknown}\`; there is ${commands.join(', ')}`,
    { commands, unknown },
    ['a message that begins with `/` or `!` and is no command: put a word before it'],
  );
}

/** Parses a message; `undefined` for an unknown command. */
export function spokenIn(text: string): Spoken | undefined {
  try {
    return readSpoken(text);
  } catch {
    return undefined;
  }
}

/** Whether a message is for a goal, is about commands or is a local one, so that no question uses it as its note. */
export function isNoNote(text: string): boolean {
  return /^\s*(?:!|\/(?:goal|ps|shell|verify)(?:\s|$))/.test(text);
}

/** The trimmed text after a verb; `undefined` if another verb is there. */
function behindVerb(verb: string, rest: string): string | undefined {
  if (rest === verb) return '';
  const isVerb = rest.startsWith(verb) && /^\s/.test(rest.slice(verb.length));
  return isVerb ? rest.slice(verb.length).trim() : undefined;
}

function unsupported(
  message: string,
  detail: Readonly<Record<string, unknown>>,
  hints: readonly string[] = [],
) {
  return new WritError('UNSUPPORTED_OPERATION', { message, detail, hints });
}
