import { join } from 'node:path';

/** A path as a person types it where no shell reads it: without the quotes around it, and `~/` for the home. */
export function typedPath(typed: string, home: string | undefined): string {
  const [, , quoted] = /^(["'])(.+)\1$/s.exec(typed) ?? [];
  const path = quoted ?? typed;
  return home !== undefined && path.startsWith('~/') ? join(home, path.slice(2)) : path;
}
