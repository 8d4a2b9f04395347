import type { VNode } from 'preact';
import type { Line } from '../../screen/line.ts';
import { h } from './h.ts';

/** Lines of a screen as lines of the page. Their text is safe to be shown as it is. */
export function spans(line: Line): readonly (string | VNode)[] {
  return line.map(({ text, tone }, at) =>
    tone === 'plain' || tone === 'code' ? text : h('span', { key: at, class: `tone-${tone}` }, text),
  );
}
