import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

/** Maps the URL of a source module (`./rule.ts`) to the file that runs: `.js` in the compiled package. */
export function toRunnable(module: string): string {
  if (!module.endsWith('.ts') || existsSync(fileURLToPath(module))) return module;
  return `${module.slice(0, -'.ts'.length)}.js`;
}
