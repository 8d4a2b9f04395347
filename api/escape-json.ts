import { revealHidden } from './reveal-hidden.ts';

/**
 * Finished JSON text with hidden characters as `\uXXXX`: the same document, safe on a terminal. Its line feeds stay.
 */
export function escapeJson(json: string): string {
  return revealHidden(json, (found) => {
    if (found === '\n') return found;
    let escaped = '';
    for (let at = 0; at < found.length; at += 1)
      escaped += `\\u${found.charCodeAt(at).toString(16).padStart(4, '0')}`;
    return escaped;
  });
}
