import type { CoderTool } from './tool.ts';

/** The only way for a model to end its attempt; what it claims is looked at by nobody but people. */
export const submitTaskComplete: CoderTool = {
  name: 'submit_task_complete',
  says: 'Ends the task: everything is done, or it cannot be done. Call it alone.',
  takes: {
    complete: { type: 'boolean', says: 'false where the task cannot be done' },
    summary: { type: 'string', says: 'what was done, or why it cannot be' },
  },
  async use({ complete, summary }) {
    return { text: 'ended', isError: false, ends: { complete: complete === true, summary: String(summary) } };
  },
};
