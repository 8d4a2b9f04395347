/* The commands of the screen itself, their completions and its help. */
import { type Line, span } from '../screen/line.ts';
import { readOutcome, toDoneTask } from '../screen/words.ts';
import { wrapLine } from '../screen/wrap.ts';
import type { Snapshot } from '../state/snapshot.ts';
import type { OfferedCommand } from './composer/completion.ts';
import { type OwnKeys, ownKeyRows } from './composer/own-keys.ts';
import type { Key } from './term/painter.ts';

type BareCommand =
  | 'help'
  | 'keys'
  | 'contract'
  | 'status'
  | 'mcp'
  | 'models'
  | 'plan'
  | 'approvals'
  | 'diff'
  | 'graph'
  | 'threads'
  | 'reclaim'
  | 'quit';

/** What the screen does itself. All other text is a message to the session. */
export type LocalCommand =
  | { readonly type: BareCommand }
  | { readonly type: 'revoke'; readonly which: string }
  | {
      readonly type: 'review';
      readonly hunk: number;
      readonly verdict?: 'keep' | 'reject';
      readonly comment?: string;
    }
  | { readonly type: 'resume'; readonly thread: string }
  | { readonly type: 'earlier'; readonly count: number }
  | { readonly type: 'export'; readonly path: string }
  | { readonly type: 'none'; readonly why: string };

export interface CommandRow {
  readonly form: string;
  readonly says: string;
}

type Read = (rest: string) => LocalCommand | undefined;

/** Reads a command without arguments. */
const bare =
  (type: BareCommand): Read =>
  (rest) =>
    rest === '' ? { type } : undefined;

/** `isShared`: other forms of the command are messages to the session. */
const rows: readonly (readonly [form: string, says: string, read: Read, isShared?: true])[] = [
  ['/plan', 'shows the plan', bare('plan'), true],
  ['/contract', 'shows the whole spec that was drafted last', bare('contract')],
  ['/status', 'shows model, cost, sandbox, and the policy, MCP servers and hooks in force', bare('status')],
  ['/mcp', 'lists the MCP servers: state, reason of a failure, and tools', bare('mcp')],
  ['/model', 'lists the known models, with context size and price', bare('models'), true],
  ['/approvals [revoke N|all]', 'lists what you approved in advance, and revokes it', readApprovals],
  ['/diff', 'shows the change', bare('diff')],
  ['/keep N', 'keeps hunk N of /diff', readVerdict('keep')],
  ['/reject N [WHY]', 'rejects hunk N of /diff; the model gets the reason', readVerdict('reject')],
  ['/comment N TEXT', 'adds a comment to hunk N of /diff', readVerdict()],
  ['/graph', 'shows how to draw the thread as a graph', bare('graph')],
  [
    '/resume [THREAD]',
    'lists the threads of this repository, and continues one',
    (rest) => (rest === '' ? { type: 'threads' } : { type: 'resume', thread: rest }),
  ],
  [
    '/control reclaim',
    'takes control back from a client',
    (rest) => (rest === 'reclaim' ? { type: 'reclaim' } : undefined),
  ],
  ['/earlier [N]', 'prints earlier messages', readCount],
  [
    '/export FILE',
    'writes the transcript as Markdown',
    (rest) => (rest === '' ? undefined : { type: 'export', path: rest }),
  ],
  ['/help', 'shows keys and commands', bare('help')],
  ['/keys', 'shows the keys, your own included', bare('keys')],
  ['/quit', 'ends the session; the thread stays', bare('quit')],
];

/** The commands of the screen and of the session, sorted. */
export function commandRows(ofSession: readonly CommandRow[]): readonly CommandRow[] {
  return [...rows.map(([form, says]) => ({ form, says })), ...ofSession].sort((one, other) =>
    one.form < other.form ? -1 : 1,
  );
}

function readVerdict(verdict?: 'keep' | 'reject'): Read {
  return (rest) => {
    const [, hunk, words = ''] = /^([1-9][0-9]{0,4})(?:\s+(\S.*))?$/s.exec(rest) ?? [];
    if (hunk === undefined || (verdict === undefined && words === '')) return undefined;
    return {
      type: 'review',
      hunk: Number(hunk),
      ...(verdict === undefined ? {} : { verdict }),
      ...(words === '' ? {} : { comment: words }),
    };
  };
}

/** Entries that `/earlier` shows by default, and at most. */
const [usual, most] = [20, 200];

function readCount(rest: string): LocalCommand | undefined {
  if (rest === '') return { type: 'earlier', count: usual };
  return /^[1-9][0-9]{0,3}$/.test(rest)
    ? { type: 'earlier', count: Math.min(most, Number(rest)) }
    : undefined;
}

function readApprovals(rest: string): LocalCommand | undefined {
  if (rest === '') return { type: 'approvals' };
  const [, which] = /^revoke\s+(\S+)$/.exec(rest) ?? [];
  return which === undefined ? undefined : { type: 'revoke', which };
}

/** What the screen itself makes of a text; `undefined`: it is for the session. */
export function readLocal(text: string): LocalCommand | undefined {
  const [, name = '', rest = ''] = /^\/(\S*)\s*(.*)$/s.exec(text.trim()) ?? [];
  const [form = '', , read, isShared] = rows.find(([one]) => one.split(' ', 1)[0] === `/${name}`) ?? [];
  const command = read?.(rest.trim());
  if (read === undefined || command !== undefined || isShared === true) return command;
  return { type: 'none', why: `expected \`${form}\`` };
}

const keys: readonly (readonly [key: string, about: string])[] = [
  ['Enter', 'send'],
  ['Alt+Enter, Ctrl+J', 'new line'],
  [
    'Tab',
    'after an answer: draft a change of it · while it works: send when it is done · with a question: between question and text',
  ],
  ['Esc', 'interrupt the turn'],
  ['Esc Esc', 'take your last message back into the editor'],
  ['Shift+Tab', 'next context: dev, review, research'],
  ['Ctrl+C', 'clear what is typed; twice: quit'],
  ['Ctrl+R', 'search what you said'],
  ['Ctrl+G', 'write in your editor'],
  ['Ctrl+T', 'take the session back from a page or a program that steers it'],
  ['Ctrl+Z', 'suspend'],
  ['!', 'a command of your own, on a copy of the work tree'],
  ['@', 'a path of this repository, or of a picture (PNG, JPEG, WebP) anywhere; a dropped one is attached'],
  ['/', 'a command'],
  ['?', 'these keys'],
];

export function keyLines(columns: number, own: OwnKeys): readonly Line[] {
  return [
    [],
    ...table([...keys, ...ownKeyRows(own)], 20, columns),
    [span('  /help has the commands, too · `writ help terminal` has all keys', 'dim')],
  ];
}

export function commandLines(commands: readonly CommandRow[], columns: number): readonly Line[] {
  const widest = Math.max(...commands.map(({ form }) => form.length));
  return [
    [],
    ...table(
      commands.map(({ form, says }) => [form, says] as const),
      widest,
      columns,
    ),
  ];
}

function table(
  rows: readonly (readonly [name: string, about: string])[],
  widest: number,
  columns: number,
): readonly Line[] {
  const isNarrow = widest + 4 > columns / 2;
  const hang = [span(' '.repeat(isNarrow ? 6 : widest + 4))];
  return rows.flatMap(([name, about]) => {
    if (!isNarrow)
      return wrapLine([span(`  ${name.padEnd(widest + 2)}`, 'accent'), span(about)], { columns, hang });
    return [[span(`  ${name}`, 'accent')], ...wrapLine([span(`      ${about}`)], { columns, hang })];
  });
}

const mostRuns = 20;

/**
 * Completions for `/undo` while a slash command is typed or begun by this key, otherwise empty. A transcript is long,
 * and keys arrive fast.
 */
export function undoOffersFor(
  typed: string,
  key: Key,
  snapshot: Pick<Snapshot, 'transcript' | 'tasks' | 'plans'>,
): readonly OfferedCommand[] {
  const begun = typed === '' && key.type !== 'key' ? key.text : typed;
  return begun.startsWith('/') ? undoOffers(snapshot) : [];
}

/** Arguments of `/undo`: runs of the thread that committed, newest first, and their tasks if there are several. */
export function undoOffers({
  transcript,
  tasks,
  plans,
}: Pick<Snapshot, 'transcript' | 'tasks' | 'plans'>): readonly OfferedCommand[] {
  let asked = '';
  const runs = new Map<string, string>();
  for (const entry of transcript) {
    if (entry.kind === 'user_message') asked = entry.content?.split('\n')[0] ?? '';
    const outcome = readOutcome(entry);
    if (outcome?.isCommit === true) runs.set(outcome.runId, asked);
    // A person has discarded what it had made.
    else if (outcome !== undefined) runs.delete(outcome.runId);
  }
  const done = tasks.flatMap((task) => toDoneTask(task) ?? []);
  return [...runs]
    .toReversed()
    .slice(0, mostRuns)
    .flatMap(([run, words]) => {
      const own = done.filter((one) => one.run === run);
      const steps = plans.findLast(({ id }) => id.startsWith(`${run}/`))?.steps ?? [];
      const stepOf = (task: string) => steps.find(({ id }) => id.startsWith(`${task}.`))?.step ?? '';
      return [
        offer(run, words),
        ...(own.length < 2 ? [] : own.map(({ task }) => offer(`${run} ${task}`, stepOf(task)))),
      ];
    });
}

function offer(behind: string, description: string): OfferedCommand {
  return { name: `undo ${behind}`, arguments: '', description, isBehind: true };
}
