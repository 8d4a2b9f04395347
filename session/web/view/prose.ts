import type { VNode } from 'preact';
import { useMemo } from 'preact/hooks';
import { h } from './h.ts';
import { text } from './text.ts';

/** What a model or a person wrote, in Markdown. */
export function Prose({ source }: { readonly source: string; readonly isOpen?: boolean }): VNode {
  return useMemo(
    () =>
      h(
        'div',
        { class: 'prose' },
        source
          .split(/^```[^\n]*\n?/m)
          .map((part, at) =>
            at % 2 === 1 ? h('pre', { tabIndex: 0 }, text(part)) : h('p', null, text(part.trim())),
          ),
      ),
    [source],
  );
}
