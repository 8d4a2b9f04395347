/* Escapes untrusted text for Markdown. */
const hidden =
  /[\u0000-\u0009\u000b-\u001f\u007f-\u009f\u00ad\u061c\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb\u{e0000}-\u{e007f}]/gu;

/** What Markdown acts on: a backslash disarms it; the first group only an entity does, in every dialect. */
const active = /([&<>@]|:(?=\/\/)|(?<=[wW]{3})\.)|[\\`*_{}[\]()|~!#]/g;

/**
 * Untrusted text for one Markdown line (`contextual-escape`): no markup, HTML, link, mention or table cell comes out of
 * it, line breaks become blanks, invisible and direction-changing characters are spelled out.
 */
export function markdownText(text: string): string {
  return text
    .toWellFormed()
    .replaceAll(/\r\n|[\n\r\t]/g, ' ')
    .replaceAll(
      hidden,
      (found) => `[U+${(found.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, '0')}]`,
    )
    .replaceAll(active, (found, entity) =>
      entity === undefined ? `\\${found}` : `&#${found.charCodeAt(0)};`,
    )
    .trim()
    .replace(/^[-+=]/, '\\$&')
    .replace(/^(\d+)([.)])/, '$1\\$2');
}

/** Puts text on one Markdown line unescaped (`encodingPolicy: none`); HTML characters are still escaped. */
export function markdownRaw(text: string): string {
  return text
    .toWellFormed()
    .replaceAll(/\r\n|[\n\r]/g, ' ')
    .replaceAll(/[&<>]/g, (found) => `&#${found.charCodeAt(0)};`);
}

/** Untrusted text of several lines as a quotation. */
export function markdownQuotation(text: string): string {
  return text
    .split(/\r\n|\n|\r/)
    .map((line) => `> ${markdownText(line)}`.trimEnd())
    .join('\n');
}
