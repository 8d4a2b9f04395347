/* Whole runs: the cases of `fixtures/runs`. */
import { type Corpus, inPortions } from '../corpus.ts';
import type { Json } from '../json.ts';
import { makeRepository } from '../repository.ts';
import { runChange } from '../run-change.ts';
import { readRunCases, sampleFiles } from '../sample.ts';

export const runCorpus: Corpus = {
  name: 'runs',
  portions: () =>
    inPortions(readRunCases(), 6).map((cases) => async (version) => {
      const answers = new Map<string, Json>();
      for (const one of cases) {
        const sides = { main: sampleFiles(), checkedOut: true };
        const repository = await makeRepository(version, `run-${one.name}`, sides);
        answers.set(one.name, await runChange(version, { ...one, repository }));
      }
      return answers;
    }),
};
