import { revealHidden } from '../../api/reveal-hidden.ts';

const entities: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
  '`': '&#96;',
};

/**
 * Untrusted text for HTML content and quoted attributes, at most `maxLength` characters; hidden characters are named.
 */
export function escapeHtml(text: string, maxLength = 4000): string {
  const bounded = text.length > maxLength ? `${text.slice(0, maxLength)}…` : text;
  const plain = bounded.replace(/[&<>"'`]/g, (found) => entities[found] ?? '');
  return revealHidden(plain, (found, code) =>
    found === '\n' || found === '\t' ? found : `[U+${code.toUpperCase().padStart(4, '0')}]`,
  );
}
