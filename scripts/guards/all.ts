import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { Guard } from './guard.ts';

const own = new Set(['all.ts', 'guard.ts']);

/**
 * Every guard that `npm run test:guards` removes: the `guards` of each file beside this one, so that a new file needs
 * no line here.
 */
export const guards: readonly Guard[] = (
  await Promise.all(
    readdirSync(import.meta.dirname)
      .filter((name) => name.endsWith('.ts') && !own.has(name))
      .sort()
      .map((name) => pathToFileURL(join(import.meta.dirname, name)).href)
      .map((url) => import(url) as Promise<{ readonly guards: readonly Guard[] }>),
  )
).flatMap((file) => file.guards);
