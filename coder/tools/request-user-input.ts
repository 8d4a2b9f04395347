import type { CoderTool } from './tool.ts';

/** A question to a person. A run has none beside it: the model decides, and says so where people will read it. */
export const requestUserInput: CoderTool = {
  name: 'request_user_input',
  says: 'Asks the person a question. In a run nobody is there to answer: then decide by what the contract says, and record the decision.',
  takes: {
    question: { type: 'string', says: 'one question, with what depends on the answer' },
    options: { type: 'string', says: 'answers to choose from, one a line', optional: true },
  },
  use: async () => ({
    text: 'nobody is there to answer. Decide by what the contract and the repository say and record it with record_decision; where neither tells, end the task as not complete and say what has to be known.',
    isError: false,
  }),
};
