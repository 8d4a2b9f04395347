import type { TableReader } from './table-reader.ts';

/** `[evidence]`: who is asked about sources beside the strategy of a contract. */
export interface EvidenceConfig {
  /** Evidence policies of listed plugins, by their names, in the order in which they are asked. */
  readonly plugins: readonly string[];
}

const maxPlugins = 8;

/** Reads `[evidence]`. */
export function readEvidenceSection(reader: TableReader): EvidenceConfig {
  const plugins = reader.texts('plugins', []);
  if (plugins.length > maxPlugins)
    reader.refuse(reader.at('plugins'), `expected at most ${maxPlugins} plugins, found ${plugins.length}`);
  const twice = plugins.find((name, index) => plugins.indexOf(name) !== index);
  if (twice !== undefined) reader.refuse(reader.at('plugins'), `\`${twice}\` is there twice`);
  reader.end();
  return { plugins };
}
