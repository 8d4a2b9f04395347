/** What every vendor accepts as the name of a tool. */
export function isToolName(name: string): boolean {
  return /^[a-zA-Z0-9_-]{1,64}$/.test(name);
}

/**
 * The name of a tool without what servers leave on it: `functions.read_file`, `read_file<|channel|>commentary`,
 * `functions.read_file:0`. A declared name stays as it is.
 */
export function cleanToolName(given: string, declared: ReadonlySet<string>): string {
  if (declared.has(given)) return given;
  const [name = ''] = given.split('<|', 1);
  return name
    .trim()
    .replace(/^functions\./, '')
    .replace(/:\d{1,4}$/, '');
}
