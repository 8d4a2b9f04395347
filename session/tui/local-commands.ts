/** What the screen does itself: it only looks, or is about the screen. All else is a message to the session. */
export type LocalCommand =
  | {
      readonly type:
        | 'help'
        | 'keys'
        | 'contract'
        | 'status'
        | 'plan'
        | 'approvals'
        | 'diff'
        | 'graph'
        | 'threads'
        | 'reclaim'
        | 'quit';
    }
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

/** One command that can be typed behind a slash. */
export interface CommandRow {
  readonly name: string;
  /** How it is written. */
  readonly form: string;
  readonly says: string;
}

interface LocalRow extends CommandRow {
  /** Other forms of it are the session's. */
  readonly isShared?: true;
  /** `undefined`: of another form. */
  readonly read: (rest: string) => LocalCommand | undefined;
}

function bare(command: LocalCommand): LocalRow['read'] {
  return (rest) => (rest === '' ? command : undefined);
}

const rows: readonly LocalRow[] = [
  { name: 'plan', form: '/plan', says: 'shows the plan', read: bare({ type: 'plan' }), isShared: true },
  {
    name: 'contract',
    form: '/contract',
    says: 'all of the contract that was drafted last',
    read: bare({ type: 'contract' }),
  },
  {
    name: 'status',
    form: '/status',
    says: 'model, thread, sandbox, ports, what it cost',
    read: bare({ type: 'status' }),
  },
  {
    name: 'approvals',
    form: '/approvals [revoke N|all]',
    says: 'what is pre-approved, and taking it back',
    read: readApprovals,
  },
  { name: 'diff', form: '/diff', says: 'what was changed', read: bare({ type: 'diff' }) },
  { name: 'keep', form: '/keep N', says: 'hunk N of /diff stays', read: readVerdict('keep') },
  {
    name: 'reject',
    form: '/reject N [WHY]',
    says: 'hunk N of /diff is not wanted; the model gets the reason',
    read: readVerdict('reject'),
  },
  { name: 'comment', form: '/comment N TEXT', says: 'what to say of hunk N of /diff', read: readVerdict() },
  {
    name: 'graph',
    form: '/graph',
    says: 'how to look at the thread as a graph',
    read: bare({ type: 'graph' }),
  },
  {
    name: 'resume',
    form: '/resume [THREAD]',
    says: 'threads of this repository, and going on with one',
    read: (rest) => (rest === '' ? { type: 'threads' } : { type: 'resume', thread: rest }),
  },
  {
    name: 'control',
    form: '/control reclaim',
    says: 'takes the session back from a client',
    read: (rest) => (rest === 'reclaim' ? { type: 'reclaim' } : undefined),
  },
  {
    name: 'earlier',
    form: '/earlier [N]',
    says: 'what was said before what is printed',
    read: readCount,
  },
  {
    name: 'export',
    form: '/export FILE',
    says: 'writes the transcript as Markdown',
    read: (rest) => (rest === '' ? undefined : { type: 'export', path: rest }),
  },
  { name: 'help', form: '/help', says: 'keys and commands', read: bare({ type: 'help' }) },
  { name: 'quit', form: '/quit', says: 'ends the session; the thread stays', read: bare({ type: 'quit' }) },
];

/** What can be typed behind a slash: the screen's own commands and those of the session, by name. */
export function commandRows(ofSession: readonly CommandRow[]): readonly CommandRow[] {
  return [...rows, ...ofSession].map(({ name, form, says }) => ({ name, form, says })).sort(byForm);
}

function byForm(one: CommandRow, other: CommandRow): number {
  return one.form < other.form ? -1 : 1;
}

/** `N` and words behind it. */
function readVerdict(verdict?: 'keep' | 'reject'): LocalRow['read'] {
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

/** Entries that `/earlier` shows unless told, and at most. */
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
  const row = rows.find((one) => one.name === name);
  const command = row?.read(rest.trim());
  if (row === undefined || command !== undefined || row.isShared === true) return command;
  return { type: 'none', why: `expected \`${row.form}\`` };
}
