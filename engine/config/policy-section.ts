import type { StageName } from '../../core/contract/stage.ts';
import { readStage } from './configured-check.ts';
import { repositoryPathFault } from './repository-path.ts';
import type { TableReader } from './table-reader.ts';

/** `[policy.<name>]`: what an external policy engine is asked with. */
export interface PolicyConfig {
  /** A name of the slot `policy`, e.g. `cedar`. */
  readonly engine: string;
  /** Paths in the tree of the policy commit: a change must not bring its own policy. */
  readonly files: readonly string[];
  /** Where it is asked about a change whose contract does not ask it. */
  readonly stage: StageName;
}

const maxPolicies = 64;
const maxFiles = 64;

/** Reads `[policy]`, by policy name. A policy without a file would permit or forbid nothing: it is refused. */
export function readPolicySection(reader: TableReader): ReadonlyMap<string, PolicyConfig> {
  const names = reader.keys();
  if (names.length > maxPolicies) {
    reader.refuse(reader.path, `expected at most ${maxPolicies} policies, found ${names.length}`);
    return new Map();
  }
  return new Map(
    names.map((name) => {
      const table = reader.table(name);
      if (!/^[A-Za-z0-9][A-Za-z0-9_-]{0,63}$/.test(name))
        table.refuse(table.path, 'expected a policy name of letters, digits, `-` and `_`');
      const engine = table.text('engine', '');
      if (engine === '') table.refuse(table.at('engine'), 'expected the name of a policy engine');
      const files = table.texts('files', []);
      if (files.length === 0 || files.length > maxFiles)
        table.refuse(table.at('files'), `expected 1 to ${maxFiles} files`);
      for (const [index, path] of files.entries()) {
        // Below `.writ/` nothing can be changed by a patch, so that is a good place for a policy.
        const fault = repositoryPathFault(path.replace(/^\.writ\/policies\//, ''));
        if (fault !== undefined) table.refuse(`${table.at('files')}[${index}]`, fault);
      }
      const stage = readStage(table, 'release');
      table.end();
      return [name, { engine, files: [...new Set(files)], stage }];
    }),
  );
}
