import type { VNode } from 'preact';
import { toolWords } from '../../screen/words/tool-words.ts';
import { h } from './h.ts';
import { sentence, text } from './text.ts';

interface Given {
  readonly toolName: string;
  readonly told: string;
  readonly status: string;
}

/** A use of a tool in one line: how it went, what was done to what, and what came of it. */
export function toolLine({ toolName, told, status }: Given): readonly (VNode | false)[] {
  const { verb, what, came, isBad } = toolWords(toolName, told, status);
  // A command that says no by its exit code was run as it should be, and is no success all the same.
  const shown = status === 'completed' && isBad ? 'failed' : status;
  return [
    h('span', { class: `tag tag-${shown}` }, shown),
    h('code', null, h('span', { class: 'tool' }, text(verb)), text(what === '' ? '' : ` ${what}`)),
    came !== '' && h('span', { class: isBad ? 'came bad' : 'came soft' }, sentence(came)),
  ];
}
