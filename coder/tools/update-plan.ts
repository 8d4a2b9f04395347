import type { CoderTool } from './tool.ts';

const maxSteps = 50;
const states = ['pending', 'in_progress', 'completed'] as const;

/** What a model means to do, in its own words: it keeps sight of it, and nobody believes it. */
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
    const lines = String(steps)
      .split('\n')
      .map((line) => line.trim().replace(/^(?:[-*]|\d+\.)\s+/, ''))
      .filter((line) => line !== '');
    if (lines.length === 0 || lines.length > maxSteps)
      return { text: `expected 1 to ${maxSteps} steps, found ${lines.length}`, isError: true };
    const wrong = lines.find(
      (line) => !states.some((state) => line.startsWith(`${state} `) || line.startsWith(`${state}:`)),
    );
    if (wrong !== undefined)
      return { text: `expected one of ${states.join(', ')} before \`${wrong.slice(0, 80)}\``, isError: true };
    const many = lines.filter((line) => line.startsWith('in_progress')).length;
    if (many > 1) return { text: `expected one step in progress, found ${many}`, isError: true };
    return { text: `noted:\n${lines.join('\n')}`, isError: false };
  },
};
