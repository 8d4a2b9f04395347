import { type Line, span } from '../../screen/line.ts';
import type { CommandRow } from '../local-commands.ts';

const keys: readonly (readonly [key: string, about: string])[] = [
  ['Enter', 'send'],
  ['Alt+Enter, Ctrl+J', 'new line'],
  ['Tab', 'while it works: send when it is done · with a question: between question and text'],
  ['Esc', 'interrupt the turn'],
  ['Esc Esc', 'take your last message back into the editor'],
  ['Shift+Tab', 'next context: dev, review, research'],
  ['Ctrl+C', 'clear what is typed; twice: quit'],
  ['Ctrl+R', 'search what you said'],
  ['Ctrl+G', 'write in your editor'],
  ['Ctrl+T', 'take the session back from a page or a program that steers it'],
  ['Ctrl+Z', 'suspend'],
  ['!', 'a command of your own, on a copy of the work tree'],
  ['@', 'a path of this repository'],
  ['/', 'a command'],
];

/** Keys and commands. */
export function helpLines(commands: readonly CommandRow[]): readonly Line[] {
  const widest = Math.max(...commands.map(({ form }) => form.length));
  return [
    [],
    ...keys.map(([key, about]): Line => [span(`  ${key.padEnd(20)}`, 'accent'), span(about)]),
    [],
    ...commands.map(({ form, says }): Line => [span(`  ${form.padEnd(widest + 2)}`, 'accent'), span(says)]),
  ];
}
