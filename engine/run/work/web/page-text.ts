import { htmlText } from '../../../../readers/documents/html/html-text.ts';

/** Characters of a page that a model gets. */
const maxText = 48_000;

/** What a page says as text, or why it says nothing. */
export function pageText(
  type: string,
  body: Uint8Array,
): { readonly text: string } | { readonly found: string } {
  const [media = '', ...parameters] = type.toLowerCase().split(';');
  const kind = media.trim();
  const charset = parameters.map((one) => /^\s*charset\s*=\s*"?([\w-]{1,40})/.exec(one)?.[1]).find(Boolean);
  const isHtml = kind === 'text/html' || kind === 'application/xhtml+xml';
  if (
    isHtml ||
    kind.startsWith('text/') ||
    /^application\/(?:[\w.+-]{0,60}\+)?(?:json|xml|yaml)$/.test(kind)
  ) {
    const text = decoded(body, charset ?? 'utf-8');
    if (text === undefined) return { found: `text in \`${charset}\`` };
    return { text: isHtml ? htmlText(text, maxText) : text.slice(0, maxText).toWellFormed() };
  }
  return { found: kind === '' ? 'content of no stated type' : `no text but \`${kind.slice(0, 80)}\`` };
}

function decoded(body: Uint8Array, charset: string): string | undefined {
  try {
    return new TextDecoder(charset).decode(body);
  } catch {
    return undefined;
  }
}
