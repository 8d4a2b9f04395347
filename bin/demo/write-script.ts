import { existsSync } from 'node:fs';
import { chmod } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { WritError } from '../../core/base/errors.ts';
import { writeOutput } from '../command-parts/write-output.ts';

/**
 * Puts `writ` into the demonstration's directory: this very program, at home there and in its repository, so that what
 * is printed to be typed next works wherever the person stands. `DEMO_HOME` makes somebody else of them.
 */
export async function writeScript(out: string, home: string, repository: string): Promise<void> {
  const node = quote(process.execPath);
  const text = [
    '#!/bin/sh',
    `HOME="\${DEMO_HOME:-${home.replaceAll(/[\\"$`}]/g, '\\$&')}}"`,
    'export HOME',
    'unset XDG_CONFIG_HOME XDG_DATA_HOME CI',
    `exec ${node} ${quote(launcher())} --repo ${quote(repository)} "$@"`,
    '',
  ].join('\n');
  await chmod(writeOutput(out, 'writ', text), 0o755);
}

/** Two places, because this file runs as a source (`bin/demo/`) and built (`dist/bin/demo/`). */
function launcher(): string {
  const places = ['../writ.js', '../../../bin/writ.js'].map((place) =>
    fileURLToPath(new URL(place, import.meta.url)),
  );
  const found = places.find((place) => existsSync(place));
  if (found === undefined) throw new WritError('INTERNAL', { message: '`bin/writ.js` is missing' });
  return found;
}

function quote(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`;
}
