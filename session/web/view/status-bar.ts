import type { VNode } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import { nextAsked } from '../../screen/question/asked.ts';
import { toSpan } from '../../screen/words/to-span.ts';
import { secondsOf, type TurnTime, turnTime, workedSeconds } from '../../screen/words/turn-time.ts';
import { now } from '../page/now.ts';
import type { Page } from '../page/page.ts';
import type { Seen } from '../seen.ts';
import { type BarFact, settingWords } from '../words/bar-words.ts';
import { controllerWords, mayWrite } from '../words/standing.ts';
import { h } from './h.ts';
import { text } from './text.ts';
import { UsageView } from './usage-view.ts';

const statusWords: Readonly<Record<string, string>> = {
  idle: 'idle',
  thinking: 'thinking',
  executing_tool: 'running a tool',
  awaiting_interaction: 'waits for an answer',
  completed: 'committed',
  error: 'failed',
};

/** What holds of the session right now: what it does, who has it, what it runs on, what it costs, what is allowed. */
export function StatusBar({ page }: { readonly page: Page }): VNode {
  const { seen, diagnostics, grants, link } = page.state;
  const [isOpen, open] = useState(false);
  if (seen === undefined) return h('header', { class: 'bar' });
  const status = link === 'live' ? seen.status : 'offline';
  const facts: readonly BarFact[] = [
    ['model', modelWords(seen.provider)],
    ...settingWords(seen, diagnostics),
  ];
  return h(
    'header',
    { class: 'bar' },
    h(
      'h1',
      null,
      h('span', { class: 'name' }, 'writ'),
      ' ',
      h('span', { class: 'where' }, text(lastOf(seen.workingDir))),
    ),
    h(
      'p',
      { class: `state state-${status}` },
      h('span', { class: 'dot', 'aria-hidden': 'true' }),
      statusWords[status] ?? status,
      h(TurnTimeView, { seen, isLive: link === 'live' }),
    ),
    h(
      'dl',
      { class: 'facts' },
      seen.usage !== undefined &&
        h(
          'div',
          { class: 'fact-used' },
          h('dt', null, 'used'),
          h('dd', null, h(UsageView, { usage: seen.usage })),
        ),
      facts.map(([name, value, tone]) =>
        h(
          'div',
          { key: name, class: `fact-${name}` },
          h('dt', null, name),
          h('dd', { class: tone }, text(value)),
        ),
      ),
    ),
    (isOpen || grants.length > 0) &&
      h(
        'button',
        {
          type: 'button',
          class: 'quiet warn',
          'aria-expanded': isOpen,
          'aria-controls': 'grants',
          onClick: () => open(!isOpen),
        },
        `${grants.length} ${grants.length === 1 ? 'approval' : 'approvals'} live`,
      ),
    h(ControlButton, { page }),
    isOpen && h(GrantList, { page }),
  );
}

function TurnTimeView({ seen, isLive }: { readonly seen: Seen; readonly isLive: boolean }): VNode {
  return h('span', { class: 'turn-time' }, useTurnTime(seen, isLive));
}

function ControlButton({ page: { state, acts } }: { readonly page: Page }): VNode {
  const { standing, seen } = state;
  const words = controllerWords(standing, seen?.controller.kind ?? 'none');
  const button =
    standing === 'mine'
      ? h('button', { type: 'button', onClick: () => void acts.release() }, 'Release')
      : standing === 'closed'
        ? h(
            'span',
            { class: 'how' },
            'start with ',
            h('code', null, '--browser-control loopback'),
            ' to steer from here',
          )
        : h(
            'button',
            { type: 'button', disabled: standing === 'other', onClick: () => void acts.take() },
            'Take control',
          );
  return h('div', { class: `control control-${standing}` }, h('span', { class: 'who' }, words), button);
}

/** The provider is said where the name of its model does not say it. */
function modelWords({ provider, model }: Seen['provider']): string {
  return model === undefined ? provider : model.startsWith(provider) ? model : `${provider} · ${model}`;
}

function lastOf(path: string): string {
  return path.split(/[\\/]/).findLast((part) => part !== '') ?? path;
}

/** What is pre-approved now, with the time that is left, and a way to take each back. */
function GrantList({ page: { state, acts } }: { readonly page: Page }): VNode {
  const isShut = !mayWrite(state.standing);
  return h(
    'div',
    { id: 'grants', class: 'grants', role: 'group', 'aria-label': 'Approvals that are live' },
    state.grants.length === 0
      ? h('p', { class: 'soft' }, 'Nothing is pre-approved: what the policy does not let go is asked about.')
      : h(
          'ul',
          null,
          state.grants.map(({ id, kind, what, cwd, secondsLeft }) =>
            h(
              'li',
              { key: id },
              h('code', null, text(what)),
              h(
                'span',
                { class: 'soft' },
                `${kind} · in `,
                text(cwd),
                secondsLeft === undefined ? ' · until writ ends' : ` · ${Math.ceil(secondsLeft)} s left`,
              ),
              h(
                'button',
                { type: 'button', disabled: isShut, onClick: () => void acts.revoke(id) },
                'Revoke',
              ),
            ),
          ),
        ),
  );
}

/**
 * How long the turn works, or its question waits, second by second; of one that is over how long it has worked, as far
 * as this page saw it. Empty where it saw none.
 */
function useTurnTime(seen: Pick<Seen, 'status' | 'interactions' | 'transcript'>, isLive: boolean): string {
  const time = useRef<TurnTime | undefined>(undefined);
  const worked = useRef('');
  const [, redraw] = useState(0);
  const before = time.current;
  if (isLive) {
    time.current = turnTime(before, seen, before === undefined ? beganMs(seen) : now());
    if (before !== undefined && time.current === undefined)
      worked.current = `worked ${toSpan(1000 * workedSeconds(before, now()))}`;
  }
  const runs = time.current !== undefined;
  useEffect(() => {
    if (!runs || !isLive) return;
    const timer = setInterval(() => redraw((count) => count + 1), 1000);
    return () => clearInterval(timer);
  }, [runs, isLive]);
  return time.current === undefined ? worked.current : toSpan(1000 * secondsOf(time.current, now()));
}

/** Since when a turn that the page has not seen begin works, or waits. */
function beganMs(seen: Pick<Seen, 'status' | 'interactions' | 'transcript'>): number {
  const at =
    seen.status === 'awaiting_interaction'
      ? nextAsked(seen)?.requestedAt
      : seen.transcript.findLast(({ kind }) => kind === 'user_message')?.createdAt;
  const ms = Date.parse(at ?? '');
  return Number.isNaN(ms) ? now() : Math.min(ms, now());
}
