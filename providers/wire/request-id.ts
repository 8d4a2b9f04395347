/** Headers in which vendors say what they call a question, the first that is there. */
const names = ['x-request-id', 'request-id', 'msh-request-id', 'x-goog-request-id'] as const;

/** What a vendor calls a question; `undefined` where it says nothing that can be quoted. */
export function requestIdOf(headers: Readonly<Record<string, string>>): string | undefined {
  return names.map((name) => headers[name]?.trim()).find((id) => /^[\x21-\x7e]{1,128}$/.test(id ?? ''));
}
