/** What a token is at least: so many characters without a blank, a colon or the like between them. */
const run = /[A-Za-z0-9+/_=.~-]{16,}/g;
/** Identifiers and digests as separate words. Hex digits that encode ASCII text do not match. */
const plainIds =
  /(?<!\S)(?!(?:[2-7][0-9a-f]){20,32}(?!\S))(?:[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}|[0-9a-f]{40}|[0-9a-f]{64})(?!\S)/gi;
/** What hides a token from an eye that looks for runs: escapes, and what is not seen. */
const hidden = /[%\\&\u001b\p{Cf}]/u;
/** Words as people write them, camel case and versions included, with a small number behind. */
const word =
  /^(?:[A-Za-z]?[a-z]{0,24}(?:[A-Z][a-z]{1,24}){0,8}\d{0,4}|[A-Z]{1,12}|v\d{1,2}(?:alpha|beta)\d{0,2})$/;

/**
 * Fast pre-check whether a text may contain a token or a private key: `false` only if `ownSecretsIn` finds none. The
 * full search needs tables that cost more to build than a whole validation of a spec.
 */
export function mayHoldSecret(text: string): boolean {
  if (hidden.test(text) || text.includes('PRIVATE KEY')) return true;
  for (const [found] of text.replace(plainIds, '').matchAll(run))
    if (!found.split(/[-_/.=]/).every((part) => word.test(part))) return true;
  return false;
}
