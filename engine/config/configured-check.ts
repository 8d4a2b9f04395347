import type { EffectiveCheck } from '../../core/contract/intentspec.gen.ts';
import { type StageName, stageNames } from '../../core/contract/stage.ts';
import type { TableReader } from './table-reader.ts';

/** A check that the configuration adds to a contract, and where. */
export interface ConfiguredCheck {
  readonly stage: StageName;
  readonly check: EffectiveCheck & { readonly command: string };
}

const kinds = ['command', 'testSuite', 'policy'] as const;

/**
 * Reads the table of one check; its bounds are those that the contract has for a check of a spec. A `mandatory` one has
 * no key `required`: it always is.
 */
export function readConfiguredCheck(reader: TableReader, mandatory = false): ConfiguredCheck {
  const check = {
    id: bounded(reader, 'id', 128),
    kind: oneOf(reader, 'kind', kinds, 'command'),
    command: bounded(reader, 'command', 2000),
    timeoutSeconds: reader.integer('timeout_seconds', 900, 1, 86_400),
    expectedExitCode: reader.integer('expected_exit_code', 0, 0, 255),
    required: mandatory || reader.flag('required', true),
    artifactsProduced: reader.texts('artifacts_produced', []),
  };
  const stage = readStage(reader);
  reader.end();
  return { stage, check };
}

/** The key `stage`; without a fallback it has to be there. */
export function readStage(reader: TableReader, fallback?: StageName): StageName {
  return oneOf(reader, 'stage', stageNames, fallback);
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

/** A key that holds one of these words; without a fallback it has to be there. */
export function oneOf<const T extends string>(
  reader: TableReader,
  key: string,
  words: readonly [T, ...T[]],
  fallback?: T,
): T {
  const found = reader.text(key, fallback ?? '');
  const word = words.find((one) => one === found);
  if (word !== undefined) return word;
  const listed = words.map((one) => `\`${one}\``).join(', ');
  reader.refuse(reader.at(key), `expected one of ${listed}${found === '' ? '' : `, found \`${found}\``}`);
  return words[0];
}

/** Refuses two checks of one id in a list. */
export function refuseRepeatedIds(
  reader: TableReader,
  key: string,
  checks: readonly ConfiguredCheck[],
): void {
  const ids = checks.map(({ check }) => check.id).filter((id) => id !== '');
  const twice = ids.find((id, index) => ids.indexOf(id) !== index);
  if (twice !== undefined) reader.refuse(reader.at(key), `the id \`${twice}\` is given twice`);
}
