import t from 'tap';
import type { Asked } from '../../../session/screen/asked.ts';
import { textOf } from '../../../session/screen/line.ts';
import { questionBody } from '../../../session/screen/question-body.ts';
import { optionsOf } from '../../../session/state/interaction.ts';

function bodyOf(kind: Asked['kind'], metadata: Asked['metadata']): string {
  const asked = {
    id: 'q',
    kind,
    status: 'pending',
    metadata,
    options: optionsOf[kind].map(([id, label]) => ({ id, label })),
    requestedAt: '2026-01-01T00:00:00.000Z',
  } as Asked;
  const toLines = (markdown: string) =>
    markdown.split('\n').map((text) => [{ text, tone: 'plain' as const }]);
  return questionBody(asked, toLines).map(textOf).join('\n');
}

t.test(
  'the plan question of a goal shows the budget it grants, and another plan question none',
  async (t) => {
    const grants = { tokens: 2_000_000, costUsd: 5, seconds: 3600 };
    t.match(bodyOf('post_plan_choice', { grants }), '  executing grants the goal 2M tokens, $5.00, 1h 00m');
    t.notMatch(bodyOf('post_plan_choice', {}), 'grants');
    t.match(bodyOf('post_plan_choice', {}), '/review on: you see the diff before the commit');
  },
);

t.test('a single question is not repeated, and several questions are listed below the title', (t) => {
  const one = (id: string, prompt: string) => ({ id, prompt, kind: 'text' as const });
  const asking = (title: string, ...questions: readonly ReturnType<typeof one>[]): string =>
    questionBody(
      {
        id: 'q',
        kind: 'request_user_input',
        title,
        status: 'pending',
        metadata: { questions },
        options: [],
        requestedAt: '2026-01-01T00:00:00.000Z',
      },
      () => [],
    )
      .map(textOf)
      .join('\n');
  t.equal(asking('Up or down?', one('a', 'Up or down?')), 'Question: Up or down?');
  t.equal(asking('Undo: prices', one('a', 'Undo it?')), 'Question: Undo: prices');
  t.equal(
    asking('Rounding', one('a', 'Up or down?'), one('b', 'How far?')),
    'Question: Rounding\n  ? Up or down?\n  ? How far?',
  );
  t.end();
});
