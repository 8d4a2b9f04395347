import { readFileSync } from 'node:fs';

/** The package's version. Two places, because this file runs as a source (`bin/`) and built (`dist/bin/`). */
export function readVersion(): string {
  const places = ['../package.json', '../../package.json'].map(
    (relative) => new URL(relative, import.meta.url),
  );
  for (const place of places) {
    try {
      const manifest = JSON.parse(readFileSync(place, 'utf8')) as {
        readonly name?: unknown;
        readonly version?: unknown;
      };
      if (manifest.name === 'writ' && typeof manifest.version === 'string') return manifest.version;
    } catch (fault) {
      if ((fault as NodeJS.ErrnoException).code !== 'ENOENT') throw fault;
    }
  }
  throw new Error('package.json of writ is missing');
}
