/* The panes of the page: diff, terminal, threads and summary. */
import type { VNode } from 'preact';
import { useEffect, useMemo, useRef, useState } from 'preact/hooks';
import { isBusy, statusFacts } from '../../../screen/status-line.ts';
import { commandsOf, outcomeOf } from '../../../screen/words.ts';
import { mayWrite, type Page, refusalWords } from '../../page/page.ts';
import type { Patchset, Seen, ToolCall } from '../../seen.ts';
import { Files } from '../file-diff.ts';
import { Command, dayWords, fact, h, sentence, text, timeWords, toolLine } from '../parts.ts';
import { readTakenBack, takenBack, UndoButton } from './workflow-pane.ts';

/* The pane Diff. */

const patchWords: Readonly<Record<Patchset['status'], string>> = {
  proposed: 'proposed: in no branch yet',
  accepted: 'accepted: committed',
  rejected: 'rejected: in no branch',
};

export function DiffPane({ page }: { readonly page: Page }): VNode {
  const { seen } = page.state;
  if (seen === undefined || seen.patchsets.length === 0) return h('p.empty', 'No file was changed yet.');
  return h(
    'div.diff',
    orderedPatches(seen).map(({ patchset, isHeld, isOver }, at) =>
      h(
        'details.patchset',
        { key: patchset.id, open: at === 0 || (at < 3 && !isOver) },
        h(
          'summary',
          h('h2', isHeld ? 'Held for your review' : 'Patch'),
          h(`span.tag.tag-${patchset.status}`, patchset.status),
          h('span.soft', `${countWords(patchset.changes.length)} · ${timeWords(patchset.updatedAt)}`),
        ),
        h(
          'p.soft',
          isOver ? 'an attempt before: in no branch' : patchWords[patchset.status],
          ' · ',
          h('code', text(patchset.id)),
        ),
        h(Files, { page, patchset, mayReview: patchset.status !== 'accepted' && !isOver }),
      ),
    ),
  );
}

function countWords(files: number): string {
  return files === 1 ? '1 file' : `${files} files`;
}

interface OrderedPatch {
  readonly patchset: Patchset;
  readonly isHeld: boolean;
  /** A later patchset replaced this proposal, so a review would have no effect. */
  readonly isOver: boolean;
}

/** Orders patchsets: the held one first, then by their last update. */
function orderedPatches({ patchsets, held }: Pick<Seen, 'patchsets' | 'held'>): readonly OrderedPatch[] {
  const byUpdate = patchsets.toReversed().toSorted((one, other) => compare(other.updatedAt, one.updatedAt));
  const isHeld = ({ id }: Patchset): boolean => id === held?.patchset;
  const whole = byUpdate.findIndex((one) => one.status !== 'proposed' || isHeld(one));
  const ordered = byUpdate.map((patchset, at) => ({
    patchset,
    isHeld: isHeld(patchset),
    isOver: patchset.status === 'proposed' && !isHeld(patchset) && whole >= 0 && at > whole,
  }));
  return [...ordered.filter((one) => one.isHeld), ...ordered.filter((one) => !one.isHeld)];
}

function compare(one: string, other: string): number {
  return one < other ? -1 : one > other ? 1 : 0;
}

/* The pane Terminal. */

const atFirst = 200;

/** Every use of a tool, the newest first: what it was, what came of it, what a command of one's own printed. */
export function TerminalPane({ page: { state } }: { readonly page: Page }): VNode {
  const [isWhole, showWhole] = useState(false);
  // The same call is the same view: of a thousand that have not changed none is looked at again.
  const views = useRef(new WeakMap<ToolCall, VNode>());
  const viewOf = (call: ToolCall): VNode => {
    const view = views.current.get(call) ?? h(Call, { key: call.id, call });
    views.current.set(call, view);
    return view;
  };
  const calls = state.seen?.toolCalls ?? [];
  if (calls.length === 0) return h('p.empty', 'No tool was used yet.');
  const shown = isWhole ? calls : calls.slice(-atFirst);
  return h(
    'div.terminal',
    h('ol.calls', { reversed: true }, shown.toReversed().map(viewOf)),
    shown.length < calls.length &&
      h('button', { onClick: () => showWhole(true) }, `Show ${calls.length - shown.length} more`),
  );
}

function Call({ call }: { readonly call: ToolCall }): VNode {
  return useMemo(
    () =>
      h(
        `li.call.call-${call.status}`,
        ...toolLine({ ...call, told: call.summary ?? '' }),
        h('time', { dateTime: call.updatedAt }, timeWords(call.updatedAt)),
        call.details !== undefined &&
          h('details', h('summary', 'Details'), h('pre', { tabIndex: 0 }, text(call.details))),
        call.output !== undefined &&
          h('pre.printed', { tabIndex: 0, 'aria-label': 'What it printed' }, text(call.output)),
      ),
    [call],
  );
}

/* The pane Threads. */

interface Thread {
  readonly id: string;
  readonly title?: string;
  readonly archived: boolean;
  readonly updatedAt: string;
}

const pageSize = 50;

/** The threads of this repository, those worked on last first. */
export function ThreadsPane({ page: { state, acts } }: { readonly page: Page }): VNode {
  const [threads, setThreads] = useState<readonly Thread[]>([]);
  const [next, setNext] = useState<number | undefined>(0);
  const [fault, setFault] = useState('');
  const load = async (offset: number): Promise<void> => {
    const answer = await acts.read(`threads?limit=${pageSize}&offset=${offset}`);
    if (!answer.ok) {
      setFault(refusalWords(answer));
      return;
    }
    setFault('');
    const items = answer.value.items as readonly Thread[];
    setThreads((known) => [...(offset === 0 ? [] : known), ...items]);
    setNext(answer.value.nextOffset as number | undefined);
  };
  useEffect(() => void load(0), []);
  return h(
    'div.threads',
    h(
      'ul.rows',
      threads.map(({ id, title, archived, updatedAt }) =>
        h(
          'li',
          { key: id, class: id === state.seen?.threadId ? 'current' : '' },
          h('span.title', text(title ?? 'without a word yet')),
          id === state.seen?.threadId && h('span.tag.tag-running', 'this one'),
          archived && h('span.tag', 'archived'),
          h('span.soft', h('time', { dateTime: updatedAt }, dayWords(updatedAt)), ' · ', h('code', text(id))),
        ),
      ),
    ),
    fault !== '' && h('p.bad', { role: 'alert' }, text(fault)),
    next !== undefined && next > 0 && h('button', { onClick: () => void load(next) }, 'Load more'),
    h(
      'p.soft',
      'One session is served at a time; ',
      h('code', 'writ code --resume THREAD'),
      ' goes on with another.',
    ),
  );
}

/* The pane Summary. */

export function SummaryPane({ page }: { readonly page: Page }): VNode {
  const { seen } = page.state;
  if (seen === undefined) return h('p');
  const outcome = outcomeOf(seen);
  const entries = [...page.state.before.entries, ...seen.transcript];
  const undid = entries.map(readTakenBack).find((one) => one !== undefined && one.by === outcome?.runId);
  const isHeld = outcome !== undefined && seen.held?.runId === outcome.runId;
  const isGone = outcome !== undefined && takenBack(entries).has(outcome.runId);
  const { threadId, toolCalls, patchsets, transcript } = seen;
  const files = new Set(patchsets.flatMap(({ changes }) => changes.map(({ path }) => path)));
  const failed = toolCalls.filter(({ status }) => status === 'failed').length;
  return h(
    'div.summary',
    outcome === undefined
      ? h('p.empty', 'Nothing was decided yet.')
      : h(
          'section',
          { 'aria-labelledby': 'outcome-head' },
          h('h2', { id: 'outcome-head' }, 'Outcome'),
          h(
            'p',
            { class: `outcome ${outcome.isCommit && !isHeld && !isGone ? 'good' : ''}` },
            text(outcome.title),
          ),
          isHeld && h('p.warn', 'Held for your review: no branch of yours has moved. See Diff.'),
          undid !== undefined && h('p', 'It takes back ', h('code', text(undid.what)), '.'),
          isGone && h('p.warn', 'Taken back since.'),
          h('p', sentence(outcome.words)),
          h(
            'dl.table',
            fact('run', h('code', text(outcome.runId))),
            outcome.commit !== undefined && fact('commit', h('code', text(outcome.commit))),
          ),
          outcome.isCommit && outcome.runId !== undefined && h(SealCheck, { page, runId: outcome.runId }),
          outcome.isCommit &&
            !isHeld &&
            !isGone &&
            h(
              'p.row',
              h(UndoButton, { page, message: `/undo ${outcome.runId}`, what: 'this run' }),
              h('span.soft', 'what it would touch is listed first'),
            ),
          commandsOf(outcome).map(([command, words]) => h(Command, { key: command, words, command })),
        ),
    h(
      'section',
      { 'aria-labelledby': 'session-head' },
      h('h2', { id: 'session-head' }, 'Session'),
      h(
        'dl.table',
        [
          ['entries', `${transcript.length + (seen.earlier ?? 0)}`],
          ['tool calls', failed === 0 ? `${toolCalls.length}` : `${toolCalls.length}, ${failed} failed`],
          ['files touched', `${files.size}`],
        ].map(([name = '', value = '']) => h('div', { key: name }, h('dt', name), h('dd', text(value)))),
      ),
      h(Command, { words: 'everything that came of this thread', command: `writ graph ${threadId}` }),
      h(Command, { words: 'go on with it in a terminal', command: `writ code --resume ${threadId}` }),
    ),
    h(
      'section',
      { 'aria-labelledby': 'status-head' },
      h('h2', { id: 'status-head' }, 'Status'),
      h(
        'dl.table',
        statusFacts(seen, page.state.diagnostics, { isPage: true }).map(([name, value], at) =>
          h('div', { key: at }, h('dt', text(name)), h('dd', text(value))),
        ),
      ),
    ),
  );
}

const verdicts: Readonly<Record<string, 'good' | 'bad'>> = { Verified: 'good', 'Not verified': 'bad' };

/** Verifies the seal of a run and shows the last result. The tool calls list all checks. */
function SealCheck({ page: { state, acts }, runId }: { readonly page: Page; readonly runId: string }): VNode {
  const { seen, standing } = state;
  const verdict = seen?.transcript.findLast(
    ({ kind, title = '', content = '' }) =>
      kind === 'info_note' && Object.hasOwn(verdicts, title) && reasonIn(content, runId) !== undefined,
  );
  const isWorking = seen !== undefined && isBusy(seen);
  const reason = reasonIn(verdict?.content ?? '', runId) ?? '';
  return h(
    'div.seal',
    h(
      'button',
      {
        disabled: isWorking || !mayWrite(standing),
        onClick: () => void acts.say(`/verify ${runId}`),
      },
      'Verify the seal',
    ),
    h(
      'p',
      { class: verdicts[verdict?.title ?? ''] ?? 'soft', role: 'status' },
      verdict === undefined
        ? 'here, offline'
        : [
            h('strong', text(verdict.title ?? '')),
            ` at ${timeWords(verdict.createdAt)}`,
            reason !== '' && [': ', sentence(reason)],
          ],
    ),
    verdicts[verdict?.title ?? ''] === 'bad' &&
      h('p.soft', 'Every check is listed under Terminal, at the newest verify.'),
  );
}

/** The reason in a note about this run. Empty if the note gives none, `undefined` for a note about another run. */
function reasonIn(content: string, runId: string): string | undefined {
  if (!content.startsWith(runId)) return undefined;
  return /^(?:: | is not verified: | is verified$|$)(.*)$/s.exec(content.slice(runId.length))?.[1];
}
