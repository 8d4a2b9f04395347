import type { VNode } from 'preact';
import { visible, visibleLines } from '../../screen/visible.ts';
import { h } from './h.ts';

/** Text of somebody else, of any number of lines: what a reader would not see stands as an escape. Never markup. */
export function text(given: string): string {
  return visibleLines(given).join('\n');
}

/** The same for a place of one line. */
export function oneLine(given: string): string {
  return visible(given);
}

/** Text of one line in which words between backticks are code, as our own sentences write it. */
export function sentence(given: string): readonly (string | VNode)[] {
  return oneLine(given)
    .split(/`([^`]+)`/)
    .map((part, at) => (at % 2 === 1 ? h('code', { key: at }, part) : part));
}
