import { type StageName, stageNames } from '../contract/stage.ts';
import type { EffectiveCheck } from '../spec/intentspec.gen.ts';
import type { TableReader } from './table-reader.ts';

/** A check that a risk factor adds, and where. */
export interface FactorCheck {
  readonly stage: StageName;
  readonly check: EffectiveCheck & { readonly command: string };
}

/** `[factors.<tag>]`, by tag. */
export type FactorsConfig = ReadonlyMap<string, readonly FactorCheck[]>;

const kinds = ['command', 'testSuite', 'policy'] as const;
const maxFactors = 256;
const maxChecks = 64;
const maxTagLength = 256;

/** Reads `[factors]`; the bounds of every check are those that the contract has for a check of a spec. */
export function readFactorsSection(reader: TableReader): FactorsConfig {
  const tags = reader.keys();
  if (tags.length > maxFactors) {
    reader.refuse(reader.path, `expected at most ${maxFactors} factors, found ${tags.length}`);
    return new Map();
  }
  return new Map(
    tags.map((tag) => {
      const table = reader.table(tag);
      if (tag.length === 0 || tag.length > maxTagLength) {
        table.refuse(table.path, `expected a tag of 1 to ${maxTagLength} characters`);
      }
      const checks = table.tables('checks', maxChecks).map(readCheck);
      if (checks.length === 0) table.refuse(table.at('checks'), 'expected at least one check');
      table.end();
      refuseRepeatedIds(table, checks);
      return [tag, checks];
    }),
  );
}

function readCheck(reader: TableReader): FactorCheck {
  const check = {
    id: bounded(reader, 'id', 128),
    kind: oneOf(reader, 'kind', kinds, 'command'),
    command: bounded(reader, 'command', 2000),
    timeoutSeconds: reader.integer('timeout_seconds', 900, 1, 86_400),
    expectedExitCode: reader.integer('expected_exit_code', 0, 0, 255),
    required: reader.flag('required', true),
    artifactsProduced: reader.texts('artifacts_produced', []),
  };
  const stage = oneOf(reader, 'stage', stageNames, undefined);
  reader.end();
  return { stage, check };
}

function bounded(reader: TableReader, key: string, max: number): string {
  const given = reader.has(key);
  const value = reader.text(key, '');
  if (!given) reader.refuse(reader.at(key), 'expected a value');
  else if (value.length > max) {
    reader.refuse(reader.at(key), `expected at most ${max} characters, found ${value.length}`);
  }
  return value;
}

function oneOf<const T extends string>(
  reader: TableReader,
  key: string,
  words: readonly [T, ...T[]],
  fallback: T | undefined,
): T {
  const found = reader.text(key, fallback ?? '');
  const word = words.find((one) => one === found);
  if (word !== undefined) return word;
  const listed = words.map((one) => `\`${one}\``).join(', ');
  reader.refuse(reader.at(key), `expected one of ${listed}${found === '' ? '' : `, found \`${found}\``}`);
  return words[0];
}

function refuseRepeatedIds(reader: TableReader, checks: readonly FactorCheck[]): void {
  const ids = checks.map(({ check }) => check.id).filter((id) => id !== '');
  const twice = ids.find((id, index) => ids.indexOf(id) !== index);
  if (twice !== undefined) reader.refuse(reader.at('checks'), `the id \`${twice}\` is given twice`);
}
