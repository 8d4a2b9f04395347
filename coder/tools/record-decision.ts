import type { WorkCitation } from '../../core/contract/worker.ts';
import type { CoderTool } from './tool.ts';

const maxSources = 50;

/** A choice that the change rests on, with where the model has it from. */
export const recordDecision: CoderTool = {
  name: 'record_decision',
  says: 'Records a key technical decision and the sources that it rests on. Say so where they contradict each other: people or a new plan decide then.',
  takes: {
    decision: { type: 'string', says: 'one sentence' },
    sources: { type: 'string', says: 'files with lines, or addresses; one a line' },
    step: { type: 'integer', says: 'which line of what is to be done it settles, from 1', optional: true },
    contradict: { type: 'boolean', says: 'whether the sources say different things', optional: true },
  },
  async use({ decision, sources, step, contradict }, _hands, { citations }) {
    const named = String(sources)
      .split('\n')
      .map((line) => line.trim())
      .filter((line) => line !== '');
    if (named.length === 0) return { text: 'a decision rests on at least one source', isError: true };
    const distinct = [...new Set(named)].slice(0, maxSources);
    const cites: WorkCitation = {
      decision: String(decision).slice(0, 2000),
      sources: distinct,
      ...(typeof step === 'number' && step > 0 ? { step } : {}),
      ...(contradict === true ? { contradict: true } : {}),
    };
    const refused = (await citations?.refused(cites)) ?? [];
    const text = refused.length === 0 ? 'recorded' : `recorded; does not count:\n${refused.join('\n')}`;
    return { text, isError: false, cites };
  },
};
