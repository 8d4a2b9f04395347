import { type Line, span, type Tone } from '../../screen/line.ts';
import { visible } from '../../screen/visible.ts';
import { stepCosts } from '../../screen/words/step-costs.ts';
import type { Snapshot } from '../../state/snapshot.ts';

const signs: Readonly<Record<string, readonly [string, Tone]>> = {
  completed: ['✓', 'good'],
  in_progress: ['▸', 'accent'],
  pending: ['·', 'dim'],
};

/** The newest plan, line by line, and its Tasks; nothing planned says so. */
export function planLines({ plans, tasks }: Pick<Snapshot, 'plans' | 'tasks'>): readonly Line[] {
  const plan = plans.findLast(({ id }) => !id.endsWith('/model')) ?? plans.at(-1);
  if (plan === undefined) return [[span('  nothing is planned yet', 'dim')]];
  const costs = stepCosts(plan);
  return [
    [
      span('Plan: ', 'heading'),
      span(visible(plan.title ?? plan.id), 'strong'),
      span(` ${plan.status}`, 'dim'),
    ],
    ...plan.steps.map(({ id, step, status }): Line => {
      const [sign, tone] = signs[status] ?? ['·', 'dim'];
      const cost = costs.get(id);
      return [
        span(`  ${sign} `, tone),
        span(visible(step)),
        ...(cost === undefined ? [] : [span(`  ${cost}`, 'dim')]),
      ];
    }),
    ...tasks
      .slice(-20)
      .map(
        ({ title, id, status, details }): Line => [
          span('  task ', 'dim'),
          span(visible(title ?? id)),
          span(` ${status}${details === undefined ? '' : `, ${visible(details)}`}`, 'dim'),
        ],
      ),
  ];
}
