/* Tools by which a model writes down its steps and its key decisions. */
import type { WorkCitation } from '../../core/interfaces/worker.ts';
import type { CoderTool } from './tool.ts';

const maxSteps = 50;
const states = ['pending', 'in_progress', 'completed'] as const;

/** Steps as a model writes them down, one a line; or what is wrong with them. */
export function readSteps(text: string):
  | {
      readonly lines: readonly {
        readonly status: (typeof states)[number];
        readonly step: string;
        readonly line: string;
      }[];
    }
  | { readonly wrong: string } {
  const lines = text
    .split('\n')
    .map((line) => line.trim().replace(/^(?:[-*]|\d+\.)\s+/, ''))
    .filter((line) => line !== '');
  if (lines.length === 0 || lines.length > maxSteps)
    return { wrong: `expected 1 to ${maxSteps} steps, found ${lines.length}` };
  const read: { status: (typeof states)[number]; step: string; line: string }[] = [];
  for (const line of lines) {
    const status = states.find((state) => line.startsWith(`${state} `) || line.startsWith(`${state}:`));
    if (status === undefined)
      return { wrong: `expected one of ${states.join(', ')} before \`${line.slice(0, 80)}\`` };
    read.push({ status, step: line.slice(status.length).replace(/^:?\s*/, ''), line });
  }
  const many = lines.filter((line) => line.startsWith('in_progress')).length;
  if (many > 1) return { wrong: `expected one step in progress, found ${many}` };
  return { lines: read };
}

/** The model's own plan. It helps the model to keep track, and no check trusts it. */
export const updatePlan: CoderTool = {
  name: 'update_plan',
  says: 'Writes down the steps of your work and how far each is; send all of them each time. One step is in progress at a time.',
  takes: {
    steps: {
      type: 'string',
      says: `one a line: \`pending\`, \`in_progress\` or \`completed\`, then what; at most ${maxSteps}`,
    },
  },
  async use({ steps }) {
    const read = readSteps(String(steps));
    if ('wrong' in read) return { text: read.wrong, isError: true };
    const lines = read.lines.map(({ line }) => line);
    return { text: `noted:\n${lines.join('\n')}`, isError: false };
  },
};

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
