/** What stands behind the verb of a command, trimmed; `undefined` where it is another one. */
export function behindVerb(verb: string, rest: string): string | undefined {
  if (rest === verb) return '';
  const isVerb = rest.startsWith(verb) && /^\s/.test(rest.slice(verb.length));
  return isVerb ? rest.slice(verb.length).trim() : undefined;
}
