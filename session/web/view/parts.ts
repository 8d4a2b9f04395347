/* Elements that several parts of the page use. */
import {
  type ComponentChildren,
  type ComponentType,
  createElement,
  isValidElement,
  type Key,
  type VNode,
} from 'preact';
import { useEffect, useState } from 'preact/hooks';
import { type Line, visible, visibleLines } from '../../screen/line.ts';
import { toolWords, usageItems } from '../../screen/words.ts';
import type { Seen } from '../seen.ts';

type Attributes = Readonly<Record<string, unknown>>;
type Children = readonly ComponentChildren[];

/**
 * Creates an element of the page: `h('p.soft', { id }, 'text')` with its classes behind the tag and optional attributes
 * or a component with its props. Children that are strings are text, never markup.
 */
export function h(selector: string, ...rest: readonly [Attributes, ...Children] | Children): VNode;
export function h<Props>(part: ComponentType<Props>, props: Props & { readonly key?: Key }): VNode;
export function h(what: string | ComponentType, ...rest: readonly unknown[]): VNode {
  const [first, ...others] = rest;
  const isAttributes =
    typeof first === 'object' && first !== null && !Array.isArray(first) && !isValidElement(first);
  const [attributes, children] = (isAttributes ? [first, others] : [null, rest]) as [
    Attributes | null,
    Children,
  ];
  if (typeof what !== 'string') return createElement(what, attributes, ...children) as VNode;
  const [tag = '', ...classes] = what.split('.');
  const named = {
    ...(tag === 'button' ? { type: 'button' } : {}),
    ...(classes.length === 0 ? {} : { class: classes.join(' ') }),
    ...attributes,
  };
  return createElement(tag, named, ...children) as VNode;
}

/** Whether a media query matches, now and later. */
export function useMedia(query: string): boolean {
  const [matches, set] = useState(() => matchMedia(query).matches);
  useEffect(() => {
    const list = matchMedia(query);
    const hear = (): void => set(list.matches);
    list.addEventListener('change', hear);
    return () => list.removeEventListener('change', hear);
  }, [query]);
  return matches;
}

export function fact(name: string, ...value: Children): VNode {
  return h('div', h('dt', name), h('dd', ...value));
}

/** Untrusted text of any number of lines, with invisible characters escaped. Never markup. */
export function text(given: string): string {
  return visibleLines(given).join('\n');
}

export function oneLine(given: string): string {
  return visible(given);
}

/** Text of one line in which words between backticks are code, as our own sentences write it. */
export function sentence(given: string): readonly (string | VNode)[] {
  return oneLine(given)
    .split(/`([^`]+)`/)
    .map((part, at) => (at % 2 === 1 ? h('code', { key: at }, part) : part));
}

/** The time of day of an instant, as its reader writes it; the instant itself where that is none. */
export function timeWords(at: string): string {
  const when = new Date(at);
  return Number.isNaN(when.getTime())
    ? at
    : when.toLocaleTimeString(undefined, { hour: '2-digit', minute: '2-digit' });
}

export function dayWords(at: string): string {
  const when = new Date(at);
  return Number.isNaN(when.getTime())
    ? at
    : when.toLocaleString(undefined, { dateStyle: 'medium', timeStyle: 'short' });
}

/** Lines of a screen as lines of the page. Their text is safe to be shown as it is. */
export function spans(line: Line): readonly (string | VNode)[] {
  return line.map(({ text, tone }, at) =>
    tone === 'plain' || tone === 'code' ? text : h('span', { key: at, class: `tone-${tone}` }, text),
  );
}

export function Command({ words, command }: { readonly words: string; readonly command: string }): VNode {
  return h('p.to-type', h('code', { tabIndex: 0 }, text(command)), h('span.soft', words));
}

export function FailedList({ failed }: { readonly failed: readonly string[] }): VNode {
  return h(
    'ul.failed-list',
    { 'aria-label': 'What failed' },
    failed.map((one) => h('li', { key: one }, oneLine(one))),
  );
}

interface Given {
  readonly toolName: string;
  readonly told: string;
  readonly status: string;
  /** Task that makes the call, if the plan has several. */
  readonly task?: string | undefined;
}

export function toolLine({ toolName, told, status, task }: Given): readonly (VNode | false)[] {
  const { verb, what, came, isBad } = toolWords(toolName, told, status);
  // A completed command with a failing exit code is shown as failed.
  const shown = status === 'completed' && isBad ? 'failed' : status;
  return [
    h(`span.tag.tag-${shown}`, shown),
    task !== undefined && h('span.task', text(task)),
    h('code', h('span.tool', text(verb)), text(what === '' ? '' : ` ${what}`)),
    came !== '' && h('span', { class: isBad ? 'came bad' : 'came soft' }, sentence(came)),
  ];
}

export function UsageView({ usage }: { readonly usage: Seen['usage'] }): VNode {
  return h(
    'span',
    usageItems(usage).map(({ text, tone }, at) => [
      at > 0 && ' · ',
      h('span', { key: text, class: `tone-${tone}` }, text),
    ]),
  );
}
