/* Runs a command of the screen and returns the lines that it shows. */
import { WritError } from '../../../core/base/errors.ts';
import { patchLines } from '../../screen/diff.ts';
import { hunksOf, type ShownHunk } from '../../screen/hunks.ts';
import { type Line, span, type Tone, visible } from '../../screen/line.ts';
import { markdownLines } from '../../screen/markdown-lines.ts';
import { documentOf } from '../../screen/question-body.ts';
import type { Diagnostics, ListedGrant, SessionDoor } from '../../screen/session-door.ts';
import { mcpFacts, statusFacts } from '../../screen/status-line.ts';
import { stepCosts, toAgo, tokenWords } from '../../screen/words.ts';
import type { Snapshot } from '../../state/snapshot.ts';
import type { OwnKeys } from '../composer/own-keys.ts';
import { type CommandRow, commandLines, keyLines, type LocalCommand } from '../local-commands.ts';
import { type Earlier, transcriptText, wholeTranscript } from './earlier.ts';

interface ShowContext {
  readonly door: SessionDoor;
  readonly rows: readonly CommandRow[];
  readonly own: OwnKeys;
  readonly columns: number;
  readonly earlier: Earlier;
  readonly last: LastShown;
  readonly nowMs: number;
  /** Writes a new file; answers where it is. */
  readonly write: (path: string, text: string) => Promise<string>;
}

export async function showLocal(
  command: LocalCommand,
  { door, rows, own, columns, earlier, last, nowMs, write }: ShowContext,
): Promise<readonly Line[]> {
  switch (command.type) {
    case 'help':
      return [...commandLines(rows, columns), ...keyLines(columns, own)];
    case 'keys':
      return keyLines(columns, own);
    case 'status': {
      const diagnostics = await door.diagnostics();
      return [[], [span('Status', 'heading')], ...statusLines(door.snapshot(), diagnostics)];
    }
    case 'mcp':
      return [[], [span('MCP servers', 'heading')], ...factLines(mcpFacts(await door.diagnostics()))];
    case 'models':
      return modelLines(door.snapshot(), await door.diagnostics());
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
  if (asked === undefined) return [[span('  no spec was drafted yet', 'dim')]];
  const { title = '' } = asked;
  return [
    [],
    [span('The whole spec: ', 'heading'), span(visible(title), 'strong')],
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

const nameColumns = 14;

export function statusLines(snapshot: Snapshot, diagnostics: Partial<Diagnostics>): readonly Line[] {
  return factLines(statusFacts(snapshot, diagnostics));
}

function factLines(facts: ReturnType<typeof statusFacts>): readonly Line[] {
  return facts.map(
    ([name, value]): Line => [span(`  ${visible(name).padEnd(nameColumns)}`, 'dim'), span(visible(value))],
  );
}

/** Every known model, the current one marked, in columns. */
export function modelLines(
  { provider: { provider, model = '' } }: Pick<Snapshot, 'provider'>,
  { models = [] }: Pick<Partial<Diagnostics>, 'models'>,
): readonly Line[] {
  const widest = Math.max(0, ...models.map((one) => `${one.provider}/${one.model}`.length));
  const current = model.includes('/') ? model : `${provider}/${model}`;
  return [
    [],
    [span('Models', 'heading'), span('  context · USD for a million tokens in, out', 'dim')],
    ...models.map((one): Line => {
      const name = `${one.provider}/${one.model}`;
      const isCurrent = name === current;
      const facts = `${tokenWords(one.contextTokens).padStart(5)} · ${one.inputUsd}, ${one.outputUsd}${one.images ? ' · images' : ''}`;
      return [
        span(isCurrent ? '› ' : '  ', 'accent'),
        span(name.padEnd(widest + 2), isCurrent ? 'accent' : 'plain'),
        span(facts, 'dim'),
      ];
    }),
    [span('  /model PROVIDER/NAME, or /model NAME of this provider; any other name is accepted, too', 'dim')],
  ];
}

type Changes = Pick<Snapshot, 'patchsets' | 'reviews' | 'held'>;

/** The change that was shown last: hunk numbers refer to it, even if a newer one exists. */
interface LastShown {
  patchset?: string | undefined;
}

function reviewed(
  { patchsets, held }: Changes,
  last: LastShown = {},
): Snapshot['patchsets'][number] | undefined {
  const wanted = held?.patchset ?? last.patchset;
  return patchsets.find(({ id }) => id === wanted) ?? patchsets.at(-1);
}

/** The change that is held, else the newest, with the hunk numbers of `/keep`, `/reject` and `/comment`. */
export function changeLines(snapshot: Changes, columns: number, last: LastShown = {}): readonly Line[] {
  const patchset = reviewed(snapshot);
  last.patchset = patchset?.id;
  if (patchset === undefined) return [[span('  nothing was changed yet', 'dim')]];
  const hunks = hunksOf(patchset, snapshot.reviews);
  return [
    [span('Change', 'heading'), span(` ${patchset.status}`, 'dim')],
    ...patchset.changes
      .filter(({ hunks: own = [] }) => own.length === 0)
      .map(({ path, changeType }): Line => [span(`  ${changeType} `, 'dim'), span(visible(path), 'strong')]),
    ...hunks.flatMap((hunk, at) => hunkLines(hunk, at, columns)),
  ];
}

function hunkLines(hunk: ShownHunk, at: number, columns: number): readonly Line[] {
  const { path, header, lines, verdict, comment } = hunk;
  const text = lines.map(({ kind, text: line }) => `${lineSigns[kind]}${line}`).join('\n');
  return [
    [],
    [
      span(`${at + 1} `, 'accent'),
      span(visible(path), 'strong'),
      ...(verdict === undefined ? [] : [span(`  ${verdicts[verdict]}`, verdict === 'keep' ? 'good' : 'bad')]),
      ...(comment === undefined ? [] : [span(`  “${visible(comment.replaceAll('\n', ' '))}”`, 'warn')]),
    ],
    ...patchLines(`${header}\n${text}`, { columns }),
  ];
}

const verdicts = { keep: 'kept', reject: 'rejected' } as const;
const lineSigns = { added: '+', removed: '-', same: ' ', note: '\\ ' } as const;

function noHunk(number: number, count: number): string {
  if (count === 0) return 'nothing was changed yet that could be reviewed';
  return `there is no hunk ${number}: \`/diff\` numbers them, ${count === 1 ? 'and there is 1' : `1 to ${count}`}`;
}

export async function reviewHunk(
  door: SessionDoor,
  { hunk: number, verdict, comment }: Extract<LocalCommand, { type: 'review' }>,
  last: LastShown = {},
): Promise<readonly Line[]> {
  const snapshot = door.snapshot();
  const patchset = reviewed(snapshot, last);
  const hunks = patchset === undefined ? [] : hunksOf(patchset, snapshot.reviews);
  const found = hunks[number - 1];
  if (found === undefined) throw new WritError('NOT_FOUND', { message: noHunk(number, hunks.length) });
  const { patchset: of, path, id } = found;
  await door.review({
    patchset: of,
    path,
    hunk: id,
    ...(verdict === undefined ? {} : { verdict }),
    ...(comment === undefined ? {} : { comment }),
  });
  const words =
    verdict === undefined ? 'noted' : verdict === 'keep' ? 'kept' : 'rejected; the model is informed';
  const tone = verdict === 'reject' ? 'bad' : 'good';
  return [[span(`  hunk ${number} of ${visible(path)}: `, 'dim'), span(words, tone)]];
}
