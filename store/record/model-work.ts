/* The shape of a model's work, as journals and provenance statements hold it. */
import type { ModelWork } from '../../core/interfaces/model-work.ts';
import { sensitiveClasses } from '../../core/interfaces/privacy.ts';
import { fields, flag, listOf, oneOf, type Shape, sha256Text, wholeNumber } from '../shape.ts';

function line(most: number): Shape<string> {
  return {
    check(value, path, problems) {
      const fits = typeof value === 'string' && value !== '' && value.length <= most;
      if (!fits || /\p{Cc}/u.test(value))
        problems.push(`${path}: expected a line of 1 to ${most} characters`);
    },
  };
}

const profile = fields({
  name: line(64),
  tier: oneOf('project', 'user', 'embedded'),
  sha256: sha256Text,
});

const program = fields({ name: line(128), sha256: sha256Text, recipe: line(64) }, { version: line(64) });

export const modelWorkShape: Shape<ModelWork> = fields(
  {
    provider: line(128),
    model: line(256),
    endpoint: line(300),
    agent: line(64),
    tools: listOf(line(128)),
    instructions: listOf(fields({ path: line(4096), sha256: sha256Text }, { cut: flag })),
    data_classes: listOf(oneOf('public', ...sensitiveClasses)),
    form: oneOf('http', 'turn'),
    exchanges: listOf(fields({ question: sha256Text }, { answer: sha256Text })),
  },
  { profile, program, replayed: flag, claimed: flag, logs: listOf(sha256Text), omitted: wholeNumber },
);

/** The first fault of a statement's block: one entry for each model in each role. `undefined` if it has none. */
export function modelWorkFault(block: unknown): string | undefined {
  if (Array.isArray(block) && block.length === 0) return ': expected at least one entry';
  const problems: string[] = [];
  listOf(modelWorkShape).check(block, '', problems);
  return problems[0];
}
