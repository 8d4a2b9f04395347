/** A JSON object from outside. */
export type Table = Readonly<Record<string, unknown>>;

/** `value` as an object; anything else is an empty one. */
export function tableOf(value: unknown): Table {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Table) : {};
}

/** `value` as a string of 1 to `max` characters without control characters; anything else is nothing. */
export function textOf(value: unknown, max = 2048): string | undefined {
  return typeof value === 'string' && value.length > 0 && value.length <= max && !/\p{Cc}/u.test(value)
    ? value
    : undefined;
}

/** The licence of a manifest in any form that npm ever allowed: a string, `{ type }`, or a list of those (a choice). */
export function licenseOf({ license, licenses }: Table): string | undefined {
  const one = (value: unknown): string | undefined => textOf(value, 256) ?? textOf(tableOf(value).type, 256);
  const list = Array.isArray(license) ? license : Array.isArray(licenses) ? licenses : undefined;
  if (list === undefined) return one(license) ?? one(licenses);
  const all = list
    .slice(0, 16)
    .map(one)
    .filter((text) => text !== undefined);
  return all.length > 1 ? `(${all.join(' OR ')})` : all[0];
}

/** Names of everything that a manifest or lock entry asks for; development dependencies only where the package is worked on. */
export function asksFor(entry: Table, withDevelopment: boolean): readonly string[] {
  const fields = [
    'dependencies',
    'optionalDependencies',
    'peerDependencies',
    ...(withDevelopment ? ['devDependencies'] : []),
  ];
  return [...new Set(fields.flatMap((field) => Object.keys(tableOf(entry[field]))))];
}

/** The name that npm assumes for a package in this directory: its last segment, with the scope before it. */
export function nameFromPath(path: string): string {
  const segments = path.split('/').filter((segment) => segment !== '' && segment !== '..');
  const name = segments.at(-1) ?? 'unnamed';
  const scope = segments.at(-2);
  return scope?.startsWith('@') ? `${scope}/${name}` : name;
}
