import type { StageName } from '../../core/contract/stage.ts';
import { resolved } from '../spec/schema-node.ts';
import { readStage } from './configured-check.ts';
import type { TableReader } from './table-reader.ts';

/** `[artifacts.<name>]`: an artifact that every change needs beside those of its contract, and who makes it. */
export interface DemandedArtifact {
  /** A producer of a listed plugin, by its name. */
  readonly plugin: string;
  /** The stage that fails without it. */
  readonly stage: StageName;
  /** As `format` of a contract's artifact; empty: what the producer declares. */
  readonly format: string;
}

/** Names that contracts may say: what bears them is made by the engine and by checks, and by nobody else. */
const ofContracts = resolved({ $ref: '#/$defs/ArtifactName' }).enum ?? [];

const maxArtifacts = 32;
const maxFormat = 64;

/** Reads `[artifacts]`, by artifact name. */
export function readArtifactsSection(reader: TableReader): ReadonlyMap<string, DemandedArtifact> {
  const names = reader.keys();
  if (names.length > maxArtifacts) {
    reader.refuse(reader.path, `expected at most ${maxArtifacts} artifacts, found ${names.length}`);
    return new Map();
  }
  return new Map(
    names.map((name) => {
      const table = reader.table(name);
      if (!/^[a-z][a-z0-9]*(-[a-z0-9]+)*$/.test(name) || name.length > 64)
        table.refuse(table.path, 'expected the name of an artifact in kebab-case, at most 64 letters');
      if (ofContracts.includes(name))
        table.refuse(table.path, 'the engine and its checks make what contracts name; give it another name');
      const plugin = table.text('plugin', '');
      if (plugin === '') table.refuse(table.at('plugin'), 'expected the name of an artifact of a plugin');
      const format = table.text('format', '');
      if (format.length > maxFormat)
        table.refuse(table.at('format'), `expected at most ${maxFormat} characters`);
      const stage = readStage(table, 'release');
      table.end();
      return [name, { plugin, stage, format }];
    }),
  );
}
