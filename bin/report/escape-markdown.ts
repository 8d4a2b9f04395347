import { revealHidden } from '../reveal-hidden.ts';

/** Untrusted text for one Markdown line: no markup, HTML, link, mention, table cell or line break comes out of it. */
export function escapeMarkdown(text: string, maxLength = 4000): string {
  const bounded = text.length > maxLength ? `${text.slice(0, maxLength)}…` : text;
  const visible = revealHidden(bounded, (found, code) =>
    found === '\n' ? ' ' : `[U+${code.toUpperCase().padStart(4, '0')}]`,
  );
  return visible
    .replace(/[&<>@]|:(?=\/\/)|(?<=www)\./g, (found) => `&#${found.charCodeAt(0)};`)
    .replace(/[\\`*_{}[\]()|~!]/g, '\\$&')
    .trim()
    .replace(/^[-+#=]/, '\\$&')
    .replace(/^(\d+)\./, '$1\\.');
}
