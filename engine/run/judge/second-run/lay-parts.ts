type Members = ReadonlyMap<string, unknown>;

/**
 * The text of a JSON manifest with these parts (`scripts.test`, `jest`) as another text of it has them, or without them
 * where that has none: what else a change says of its package stays, so that a new dependency is there and a new script
 * is not. `undefined` where either text is no object.
 */
export function layParts(text: string, other: string, parts: readonly string[]): string | undefined {
  const [own, theirs] = [membersOf(text), membersOf(other)];
  if (own === undefined || theirs === undefined) return undefined;
  const laid = new Map(own);
  for (const part of parts) {
    const dot = part.indexOf('.');
    if (dot < 0) lay(laid, part, theirs);
    else {
      const group = part.slice(0, dot);
      const inside = new Map(entriesOf(laid.get(group)) ?? []);
      lay(inside, part.slice(dot + 1), new Map(entriesOf(theirs.get(group)) ?? []));
      laid.set(group, Object.fromEntries(inside));
    }
  }
  return `${JSON.stringify(Object.fromEntries(laid), undefined, 2)}\n`;
}

function lay(own: Map<string, unknown>, name: string, theirs: Members): void {
  if (theirs.has(name)) own.set(name, theirs.get(name));
  else own.delete(name);
}

function membersOf(text: string): Members | undefined {
  try {
    const entries = entriesOf(JSON.parse(text));
    return entries && new Map(entries);
  } catch {
    return undefined;
  }
}

function entriesOf(value: unknown): [string, unknown][] | undefined {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return undefined;
  return Object.entries(value);
}
