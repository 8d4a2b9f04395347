export type LockEntry = Readonly<Record<string, unknown>>;

/** A package.json. */
export function manifest(fields: object): string {
  return `${JSON.stringify({ name: 'x', version: '1.0.0', ...fields }, undefined, 2)}\n`;
}

/** A package-lock.json of version 3. */
export function lockfile(root: object, packages: Readonly<Record<string, LockEntry>>): string {
  return `${JSON.stringify({ name: 'x', lockfileVersion: 3, requires: true, packages: { '': { name: 'x', ...root }, ...packages } }, undefined, 2)}\n`;
}

/** An entry as npm writes it for a package of a registry. */
export function registryEntry(name: string, version: string, license: unknown = 'MIT'): LockEntry {
  const file = name.slice(name.indexOf('/') + 1);
  return {
    version,
    resolved: `https://registry.example/${name}/-/${file}-${version}.tgz`,
    integrity: 'sha512-x',
    ...(license === undefined ? {} : { license }),
  };
}
