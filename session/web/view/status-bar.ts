import type { VNode } from 'preact';
import { useState } from 'preact/hooks';
import type { Page } from '../page/page.ts';
import type { Seen } from '../seen.ts';
import { type BarFact, settingWords } from '../words/bar-words.ts';
import { controllerWords } from '../words/standing.ts';
import { GrantList } from './grant-list.ts';
import { h } from './h.ts';
import { text } from './text.ts';
import { UsageView } from './usage-view.ts';
import { useTurnTime } from './use-turn-time.ts';

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
