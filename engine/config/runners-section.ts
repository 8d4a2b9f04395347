import type { TableReader } from './table-reader.ts';

/** `[runners]`: whose word is enough to go on with a run on another machine without judging it again. */
export interface RunnersConfig {
  /** Public keys (PEM) below `.writ/trust/`, as paths from the root of the repository. */
  readonly keys: readonly string[];
}

const maxKeys = 64;

/** Reads `[runners]`. A path that leads out of `.writ/trust/` is refused: a patch there takes two approvals. */
export function readRunnersSection(reader: TableReader): RunnersConfig {
  const keys = reader.texts('keys', []);
  for (const [index, path] of keys.entries()) {
    if (!/^\.writ\/trust\/[A-Za-z0-9][A-Za-z0-9._-]{0,127}$/.test(path))
      reader.refuse(
        `${reader.at('keys')}[${index}]`,
        'expected the path of a public key, `.writ/trust/NAME`',
      );
  }
  if (keys.length > maxKeys) reader.refuse(reader.at('keys'), `expected at most ${maxKeys} keys`);
  reader.end();
  return { keys };
}
