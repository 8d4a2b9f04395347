/** A path below a base: `/v1` and the like goes before it where the base does not end with a version of its own. */
export function versioned(base: string, version: string, path: string): string {
  return /\/v\d{1,3}[a-z0-9]{0,12}$/.test(base) ? path : `${version}${path}`;
}
