import type { ComponentType, VNode } from 'preact';
import { useRef } from 'preact/hooks';
import type { Page } from '../page/page.ts';
import { h } from './h.ts';

export interface Pane {
  readonly label: string;
  readonly Pane: ComponentType<{ readonly page: Page }>;
}

interface Given {
  readonly tabs: Readonly<Record<string, Pane>>;
  readonly open: string;
  readonly choose: (id: string) => void;
  readonly page: Page;
}

/** Panes of which one is open; arrow keys, Home and End go through their names. */
export function Tabs({ tabs, open, choose, page }: Given): VNode {
  const list = useRef<HTMLDivElement>(null);
  const ids = Object.keys(tabs);
  const go = (to: string | undefined): void => {
    if (to === undefined) return;
    choose(to);
    list.current?.querySelector<HTMLElement>(`#tab-${to}`)?.focus();
  };
  const onKeyDown = (event: KeyboardEvent): void => {
    const at = ids.indexOf(open);
    const to = {
      ArrowRight: ids[(at + 1) % ids.length],
      ArrowLeft: ids.at(at - 1),
      Home: ids[0],
      End: ids.at(-1),
    }[event.key];
    if (to === undefined) return;
    event.preventDefault();
    go(to);
  };
  const { Pane } = tabs[open] ?? { Pane: () => null };
  return h(
    'section',
    { class: 'panes', 'aria-label': 'Work' },
    h(
      'div',
      { class: 'tabs', role: 'tablist', 'aria-label': 'Panes', ref: list, onKeyDown },
      ids.map((id) =>
        h(
          'button',
          {
            key: id,
            id: `tab-${id}`,
            type: 'button',
            role: 'tab',
            'aria-selected': id === open,
            'aria-controls': 'pane',
            tabIndex: id === open ? 0 : -1,
            onClick: () => choose(id),
          },
          tabs[id]?.label,
        ),
      ),
    ),
    h(
      'div',
      {
        class: `pane pane-${open}`,
        id: 'pane',
        role: 'tabpanel',
        'aria-labelledby': `tab-${open}`,
        tabIndex: 0,
      },
      h(Pane, { key: open, page }),
    ),
  );
}
