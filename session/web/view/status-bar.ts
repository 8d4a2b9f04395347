/* The status bar of the page. */
import type { VNode } from 'preact';
import { useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks';
import { nextAsked } from '../../screen/asked.ts';
import type { Diagnostics } from '../../screen/session-door.ts';
import { isAnswered, secondsOf, type TurnTime, turnTime, workedSeconds } from '../../screen/status-line.ts';
import { toSpan } from '../../screen/words.ts';
import { now } from '../page/keep-transcript.ts';
import { controllerWords, mayWrite, type Page } from '../page/page.ts';
import type { Seen } from '../seen.ts';
import { h, text, UsageView, useMedia } from './parts.ts';

const statusWords: Readonly<Record<string, string>> = {
  idle: 'idle',
  thinking: 'thinking',
  executing_tool: 'running a tool',
  awaiting_interaction: 'waits for an answer',
  completed: 'committed',
  error: 'failed',
};

export function StatusBar({ page }: { readonly page: Page }): VNode {
  const { seen, diagnostics, grants, link } = page.state;
  const [isOpen, open] = useState(false);
  if (seen === undefined) return h('header.bar');
  const status = link === 'live' ? seen.status : 'offline';
  const facts: readonly BarFact[] = [
    ['model', modelWords(seen.provider)],
    ...settingWords(seen, diagnostics),
  ];
  return h(
    'header.bar',
    h('h1', h('span.name', 'writ'), ' ', h('span.where', text(lastOf(seen.workingDir)))),
    h(ThemeButton, {}),
    h(
      `p.state.state-${status}`,
      h('span.dot', { 'aria-hidden': 'true' }),
      isAnswered(seen) && link === 'live' ? 'answered, nothing changed' : (statusWords[status] ?? status),
      h(TurnTimeView, { seen, isLive: link === 'live' }),
    ),
    h(
      'dl.facts',
      seen.usage !== undefined &&
        h('div.fact-used', h('dt', 'used'), h('dd', h(UsageView, { usage: seen.usage }))),
      facts.map(([name, value, tone]) =>
        h('div', { key: name, class: `fact-${name}` }, h('dt', name), h('dd', { class: tone }, text(value))),
      ),
    ),
    (isOpen || grants.length > 0) &&
      h(
        'button.quiet.warn',
        {
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

const themes = ['auto', 'light', 'dark', 'high contrast'] as const;

/** Changes the colours of this page; `auto` follows the browser. The choice is kept for later pages. */
function ThemeButton(): VNode {
  const [theme, choose] = useState(
    () => themes.find((one) => one === localStorage.getItem('theme')) ?? themes[0],
  );
  const wantsContrast = useMedia('(prefers-contrast: more)');
  useLayoutEffect(() => {
    const { dataset } = document.documentElement;
    dataset.theme = theme;
    dataset.contrast = theme === 'high contrast' || (theme === 'auto' && wantsContrast) ? 'more' : '';
    localStorage.setItem('theme', theme);
  }, [theme, wantsContrast]);
  const next = themes[(themes.indexOf(theme) + 1) % themes.length] ?? 'auto';
  return h(
    'button.quiet',
    { 'aria-label': `Theme: ${theme}`, title: `Theme: ${theme}`, onClick: () => choose(next) },
    '◐',
  );
}

function TurnTimeView({ seen, isLive }: { readonly seen: Seen; readonly isLive: boolean }): VNode {
  return h('span.turn-time', useTurnTime(seen, isLive));
}

function ControlButton({ page: { state, acts } }: { readonly page: Page }): VNode {
  const { standing, seen } = state;
  const words = controllerWords(standing, seen?.controller.kind ?? 'none');
  const button =
    standing === 'mine'
      ? h('button', { onClick: () => void acts.release() }, 'Release')
      : standing === 'closed'
        ? h('span.how', 'start with ', h('code', '--browser-control loopback'), ' to steer from here')
        : h('button', { disabled: standing === 'other', onClick: () => void acts.take() }, 'Take control');
  return h(`div.control.control-${standing}`, h('span.who', words), button);
}

function modelWords({ provider, model }: Seen['provider']): string {
  return model === undefined ? provider : model.startsWith(provider) ? model : `${provider} · ${model}`;
}

function lastOf(path: string): string {
  return path.split(/[\\/]/).findLast((part) => part !== '') ?? path;
}

function GrantList({ page: { state, acts } }: { readonly page: Page }): VNode {
  const isShut = !mayWrite(state.standing);
  return h(
    'div.grants',
    { id: 'grants', role: 'group', 'aria-label': 'Approvals that are live' },
    state.grants.length === 0
      ? h('p.soft', 'Nothing is pre-approved: what the policy does not let go is asked about.')
      : h(
          'ul',
          state.grants.map(({ id, kind, what, cwd, secondsLeft }) =>
            h(
              'li',
              { key: id },
              h('code', text(what)),
              h(
                'span.soft',
                `${kind} · in `,
                text(cwd),
                secondsLeft === undefined ? ' · until writ ends' : ` · ${Math.ceil(secondsLeft)} s left`,
              ),
              h('button', { disabled: isShut, onClick: () => void acts.revoke(id) }, 'Revoke'),
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

function beganMs(seen: Pick<Seen, 'status' | 'interactions' | 'transcript'>): number {
  const at =
    seen.status === 'awaiting_interaction'
      ? nextAsked(seen)?.requestedAt
      : seen.transcript.findLast(({ kind }) => kind === 'user_message')?.createdAt;
  const ms = Date.parse(at ?? '');
  return Number.isNaN(ms) ? now() : Math.min(ms, now());
}

type BarFact = readonly [name: string, value: string, tone?: string];

function settingWords(
  { settings, interactions }: Seen,
  { sandbox }: Partial<Diagnostics>,
): readonly BarFact[] {
  const plan = interactions.findLast((one) => one.kind === 'post_plan_choice');
  const network = settings?.networkAccess ?? plan?.metadata.networkAccess ?? 'deny';
  const isConfined = sandbox !== undefined && sandbox.backend !== 'none' && sandbox.enforced.length > 0;
  return [
    ...(typeof settings?.context === 'string' ? [['context', settings.context] as const] : []),
    ['network', network === 'allow' ? 'allow' : 'deny', network === 'allow' ? 'warn' : ''],
    ...(settings?.review === 'on' ? [['changes', 'held for review'] as const] : []),
    ...(sandbox === undefined
      ? []
      : [
          [
            'sandbox',
            isConfined ? sandbox.backend : 'none: every command is asked about',
            isConfined ? '' : 'bad',
          ] as const,
        ]),
  ];
}
