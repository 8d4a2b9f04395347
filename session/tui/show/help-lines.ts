import { type Line, span } from '../../screen/line.ts';
import { wrapLine } from '../../screen/wrap.ts';
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
  ['?', 'these keys'],
];

/** The keys; where the commands are. */
export function keyLines(columns: number): readonly Line[] {
  return [
    [],
    ...table(keys, 20, columns),
    [span('  /help has the commands, too · docs/terminal.md has all keys', 'dim')],
  ];
}

/** What can be typed behind a slash. */
export function commandLines(commands: readonly CommandRow[], columns: number): readonly Line[] {
  const widest = Math.max(...commands.map(({ form }) => form.length));
  return [
    [],
    ...table(
      commands.map(({ form, says }) => [form, says] as const),
      widest,
      columns,
    ),
  ];
}

/** Two columns; where they have no room side by side, what is said stands below. */
function table(
  rows: readonly (readonly [name: string, about: string])[],
  widest: number,
  columns: number,
): readonly Line[] {
  const isNarrow = widest + 4 > columns / 2;
  const hang = [span(' '.repeat(isNarrow ? 6 : widest + 4))];
  return rows.flatMap(([name, about]) => {
    if (!isNarrow)
      return wrapLine([span(`  ${name.padEnd(widest + 2)}`, 'accent'), span(about)], { columns, hang });
    return [[span(`  ${name}`, 'accent')], ...wrapLine([span(`      ${about}`)], { columns, hang })];
  });
}
