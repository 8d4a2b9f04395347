import type { ArtifactRecord, StageRecord } from '../../core/contract/stage.ts';
import { toCount } from './quantities.ts';

/**
 * How much of a stage ran: its checks, then who else was asked and what the engine or a plugin made there. Where the
 * contract lists no check these are all that it did.
 */
export function toStageWords(
  { stage, expected, ran, asked = [] }: Pick<StageRecord, 'stage' | 'expected' | 'ran' | 'asked'>,
  artifacts: readonly Pick<ArtifactRecord, 'stage' | 'checkId' | 'name'>[],
): string {
  const made = artifacts.filter((one) => one.stage === stage && one.checkId === undefined);
  return [
    expected === 0 ? 'no check listed' : `${ran} of ${toCount(expected, 'check')}`,
    ...asked.map(({ name, plugin, status }) => `${name} of plugin ${plugin} ${status}`),
    ...(expected === 0 && made.length > 0 ? [`made ${made.map(({ name }) => name).join(', ')}`] : []),
  ].join(', ');
}
