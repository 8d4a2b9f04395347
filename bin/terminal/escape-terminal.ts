import { revealHidden } from '../../api/reveal-hidden.ts';

const named: Readonly<Record<string, string>> = { '\n': '\\n', '\r': '\\r', '\t': '\\t', '\x1b': '\\e' };

/**
 * Untrusted text for one terminal line: what could move the cursor, recolour, reorder or hide text is shown as an
 * escape.
 */
export function escapeTerminal(text: string): string {
  return revealHidden(text, (found, code) => named[found] ?? `\\u{${code}}`);
}
