/** Masks and escapes untrusted text for display. */
import { unseen } from '../../core/base/printable.ts';
import type { ShellWord } from '../../workspace/shell/shell.ts';
import { classifyCommand } from './classify-command.ts';
import { isCommand, type ToolUse } from './tool-use.ts';

export type Mask = (text: string) => string;

/** A use in one line, as a person may be shown it; of a command its text. */
export function useText(use: Pick<ToolUse, 'request' | 'argv'>, mask: Mask, most: number): string {
  const { tool, action, command, paths = [], query } = use.request;
  if (isCommand(use)) return visibleText(maskedCommand(command ?? '', mask), mask, most);
  const words = use.argv ?? (command === undefined ? (query === undefined ? paths : [query]) : [command]);
  const named = words.map((word) => visibleText(word, mask, most)).join(' ');
  return visibleText(`${tool} ${action} ${named}`.trimEnd(), mask, most);
}

/** Lines of a command that has several, each as a person may be shown it; none where it is one line. */
export function commandLines(
  use: Pick<ToolUse, 'request' | 'argv'>,
  mask: Mask,
  most: { readonly lines: number; readonly line: number },
): readonly string[] {
  if (!isCommand(use)) return [];
  const lines = maskedCommand(use.request.command ?? '', mask).split('\n');
  if (lines.length < 2) return [];
  const left = lines.length - most.lines;
  return [
    ...lines.slice(0, most.lines).map((line) => visibleText(line, mask, most.line)),
    ...(left > 0 ? [`… and ${left} more ${left === 1 ? 'line' : 'lines'}`] : []),
  ];
}

/** A word as the shell makes it, as far as it is known; masked, where that changes it. */
export function maskedWord({ literal, head }: ShellWord, mask: Mask): string | undefined {
  const known = literal ?? head;
  const masked = mask(known);
  if (masked === known) return undefined;
  return literal === undefined ? `${masked}…` : masked;
}

/** Masks shell text. A secret that is split by quotes is found in the unquoted word. */
export function maskedCommand(text: string, mask: Mask): string {
  const masked = mask(text);
  const words = classifyCommand(text).segments.flatMap(({ command }) => command.argv);
  const known = words.map(({ literal, head }) => literal ?? head).join('\n');
  // All at once first: nearly every command hides nothing.
  if (mask(known) === known) return masked;
  return words.reduce((shown, word) => {
    const hidden = maskedWord(word, mask);
    return hidden === undefined ? shown : shown.replaceAll(word.text, () => hidden);
  }, masked);
}

/**
 * Untrusted text for display: masks secrets, escapes control, bidirectional and invisible characters, then shortens
 * the text.
 */
export function visibleText(text: string, mask: (text: string) => string, most: number): string {
  const shown = mask(text).replaceAll(unseen, (one) => `\\u{${(one.codePointAt(0) ?? 0).toString(16)}}`);
  const letters = [...shown.slice(0, 2 * most + 2)];
  return letters.length <= most ? shown : `${letters.slice(0, most - 1).join('')}…`;
}
