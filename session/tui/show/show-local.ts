/* Runs a command of the screen and returns the lines that it shows. */
import { type Line, span, type Tone, visible } from '../../screen/line.ts';
import { markdownLines } from '../../screen/markdown-lines.ts';
import { documentOf } from '../../screen/question-body.ts';
import type { ListedGrant, SessionDoor } from '../../screen/session-door.ts';
import { stepCosts, toAgo } from '../../screen/usage-words.ts';
import type { Snapshot } from '../../state/snapshot.ts';
import { type CommandRow, commandLines, keyLines, type LocalCommand } from '../local-commands.ts';
import { changeLines, type LastShown, reviewHunk } from './change-lines.ts';
import { type Earlier, transcriptText, wholeTranscript } from './earlier.ts';
import { statusLines } from './status-lines.ts';

interface ShowContext {
  readonly door: SessionDoor;
  readonly rows: readonly CommandRow[];
  readonly columns: number;
  readonly earlier: Earlier;
  readonly last: LastShown;
  readonly nowMs: number;
  /** Writes a new file; answers where it is. */
  readonly write: (path: string, text: string) => Promise<string>;
}

export async function showLocal(
  command: LocalCommand,
  { door, rows, columns, earlier, last, nowMs, write }: ShowContext,
): Promise<readonly Line[]> {
  switch (command.type) {
    case 'help':
      return [...commandLines(rows, columns), ...keyLines(columns)];
    case 'keys':
      return keyLines(columns);
    case 'status': {
      const diagnostics = await door.diagnostics();
      return [[], [span('Status', 'heading')], ...statusLines(door.snapshot(), diagnostics)];
    }
    case 'contract':
      return contractLines(door.snapshot(), columns);
    case 'plan':
      return planLines(door.snapshot());
    case 'approvals':
      return [[span('Pre-approved', 'heading')], ...approvalLines(await door.approvals())];
    case 'revoke': {
      const picked = pickGrants(await door.approvals(), command.which);
      if (picked.length === 0) return [[span(`  no approval \`${visible(command.which)}\``, 'warn')]];
      for (const { id } of picked) await door.revoke(id);
      return picked.map(({ what }): Line => [span('  taken back: ', 'dim'), span(visible(what), 'code')]);
    }
    case 'diff':
      return changeLines(door.snapshot(), columns, last);
    case 'review':
      return reviewHunk(door, command, last);
    case 'graph':
      return [[span('  writ graph ', 'dim'), span(door.snapshot().threadId, 'code')]];
    case 'threads':
      return threadLines(door, nowMs);
    case 'reclaim': {
      const { kind, ownerLabel = '' } = door.snapshot().controller;
      await door.reclaim();
      if (kind === 'tui') return [[span('  the session is yours already', 'dim')]];
      return [
        [
          span(
            `  the session is yours again, not that of ${visible(`${kind} ${ownerLabel}`)}`.trimEnd(),
            'dim',
          ),
        ],
      ];
    }
    case 'earlier':
      return earlier.show(command.count, columns);
    case 'export':
      return [[span('  written: ', 'dim'), span(visible(await write(command.path, await everything(door))))]];
    case 'none':
      return [[span(`  ${visible(command.why)}`, 'warn')]];
    case 'quit':
    case 'resume':
      // Commands that leave the screen print nothing.
      return [];
  }
}

async function everything(door: SessionDoor): Promise<string> {
  const transcript = [...(await wholeTranscript(door))];
  return transcriptText({ ...door.snapshot(), transcript });
}

/** Pre-approved calls, with the numbers of `/approvals revoke N`. */
function approvalLines(grants: readonly ListedGrant[]): readonly Line[] {
  if (grants.length === 0) return [[span('  nothing is pre-approved', 'dim')]];
  return grants.map(
    ({ kind, what, cwd, secondsLeft }, at): Line => [
      span(`  ${at + 1}  `, 'accent'),
      span(visible(what), 'code'),
      span(`  ${visible(kind)} in ${visible(cwd)}`, 'dim'),
      span(secondsLeft === undefined ? '  until writ ends' : `  ${secondsLeft} s left`, 'warn'),
    ],
  );
}

function pickGrants(grants: readonly ListedGrant[], which: string): readonly ListedGrant[] {
  if (which === 'all') return grants;
  return grants.filter(({ id }, at) => id === which || `${at + 1}` === which);
}

function contractLines({ interactions }: Pick<Snapshot, 'interactions'>, columns: number): readonly Line[] {
  const asked = interactions.findLast(({ kind }) => kind === 'intent_review_choice');
  if (asked === undefined) return [[span('  no contract was drafted yet', 'dim')]];
  const { title = '' } = asked;
  return [
    [],
    [span('All of the contract: ', 'heading'), span(visible(title), 'strong')],
    ...markdownLines(documentOf(asked), { columns }),
  ];
}

const signs: Readonly<Record<string, readonly [string, Tone]>> = {
  completed: ['✓', 'good'],
  in_progress: ['▸', 'accent'],
  pending: ['·', 'dim'],
};

function planLines({ plans, tasks }: Pick<Snapshot, 'plans' | 'tasks'>): readonly Line[] {
  const plan = plans.findLast(({ id }) => !id.endsWith('/model')) ?? plans.at(-1);
  if (plan === undefined) return [[span('  nothing is planned yet', 'dim')]];
  const costs = stepCosts(plan);
  return [
    [
      span('Plan: ', 'heading'),
      span(visible(plan.title ?? plan.id), 'strong'),
      span(` ${plan.status}`, 'dim'),
    ],
    ...plan.steps.map(({ id, step, status }): Line => {
      const [sign, tone] = signs[status] ?? ['·', 'dim'];
      const cost = costs.get(id);
      return [
        span(`  ${sign} `, tone),
        span(visible(step)),
        ...(cost === undefined ? [] : [span(`  ${cost}`, 'dim')]),
      ];
    }),
    ...tasks
      .slice(-20)
      .map(
        ({ title, id, status, details }): Line => [
          span('  task ', 'dim'),
          span(visible(title ?? id)),
          span(` ${status}${details === undefined ? '' : `, ${visible(details)}`}`, 'dim'),
        ],
      ),
  ];
}

/* Lists the threads of a repository and finds one by the start of its id. */

const [most, mostLooked] = [20, 1000];
const threadPage = 200;

export async function threadLines(
  { threads, snapshot }: Pick<SessionDoor, 'threads' | 'snapshot'>,
  nowMs: number,
): Promise<readonly Line[]> {
  const { threadId } = snapshot();
  const lines: Line[] = [];
  let empty = 0;
  let more = false;
  for (let offset: number | undefined = 0; offset !== undefined && offset < mostLooked; ) {
    const { items, nextOffset } = await threads({ limit: threadPage, offset });
    for (const { id, title = '', updatedAt } of items) {
      if (title.trim() === '') empty += id === threadId ? 0 : 1;
      else if (lines.length === most) more = true;
      else
        lines.push([
          span(`  ${id}  `, 'code'),
          span(toAgo(Date.parse(updatedAt), nowMs).padEnd(10), 'dim'),
          span(visible(title)),
          ...(id === threadId ? [span('  this one', 'accent')] : []),
        ]);
    }
    offset = lines.length === most ? undefined : nextOffset;
  }
  const left = [
    ...(more ? ['there are older ones'] : []),
    ...(empty === 0 ? [] : [`${empty} without a word ${empty === 1 ? 'is' : 'are'} left out`]),
  ];
  return [
    [span('Threads', 'heading')],
    ...(lines.length === 0 ? [[span('  nothing was said in any thread yet', 'dim')]] : lines),
    [span(['  /resume THREAD goes on with one', ...left].join(' · '), 'dim')],
  ];
}

/** The thread of this repository that a word names: its id, or the beginning of one alone. `undefined`: none. */
export async function findThread(
  { threads }: Pick<SessionDoor, 'threads'>,
  word: string,
): Promise<string | undefined> {
  const found = new Set<string>();
  for (let offset: number | undefined = 0; offset !== undefined; ) {
    const { items, nextOffset } = await threads({ limit: threadPage, offset });
    for (const { id } of items) {
      if (id === word) return id;
      if (id.startsWith(word)) found.add(id);
    }
    offset = nextOffset;
  }
  return found.size === 1 ? [...found][0] : undefined;
}
