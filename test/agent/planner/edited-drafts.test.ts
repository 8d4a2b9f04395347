import { readFileSync, writeFileSync } from 'node:fs';
import t from 'tap';
import type { IntentSpec } from '../../../core/interfaces/intentspec.gen.ts';
import { draftEdits, requireStricter } from '../../../engine/draft/stored-draft.ts';
import { applyDefaults } from '../../../spec/document-schema.ts';
import { draftFromProfile } from '../../../spec/profile.ts';
import { strictFields } from '../../../spec/stricter.ts';
import { faultsOf } from '../../bin/faults-of.ts';
import { long } from '../../rooms/long.ts';
import { scriptModel } from '../scripted-model.ts';
import { ask, call, sampleFor } from './ask-writ.ts';
import { makesFix, priceDraft, submits } from './drafts.ts';

type Part = Record<string, unknown>;

/** Puts another value into the file of a draft. */
function edit(path: string, field: string, value: unknown): void {
  const document = JSON.parse(readFileSync(path, 'utf8'));
  const names = field.split('.');
  let part = document as Part;
  for (const name of names.slice(0, -1)) part = part[name] as Part;
  part[names.at(-1) ?? ''] = value;
  writeFileSync(path, JSON.stringify(document));
}

const asking = { ...priceDraft, questions: ['in cents or in euros?'] };

long('a stricter or textual edit is shown and applied', async (t) => {
  const sample = sampleFor(t);
  await using model = await scriptModel([submits(asking), ...makesFix]);
  const { data } = await ask(sample, model, []);
  t.strictSame(data.draft.edits, []);
  edit(data.draft.path, 'intent.summary', 'Prices are exact to the cent');
  edit(data.draft.path, 'constraints.privacy.retentionDays', 5);
  const edits = [
    '`intent.summary` was "Prices are exact", and is "Prices are exact to the cent"',
    '`constraints.privacy.retentionDays` was 7, and is 5',
  ];
  const shown = await call(sample, ['show', data.run_id]);
  t.strictSame(new Set(shown.data.draft.edits), new Set(edits));
  t.strictSame(faultsOf('show', shown.data), []);
  t.match(shown.data.waits_for, ['it was edited by hand', 'to be decided: in cents or in euros?']);
  const ran = await call(sample, ['resume', data.run_id, '--yes']);
  t.match(ran, { code: 0, data: { spec: { summary: 'Prices are exact to the cent' } } });
  t.strictSame(new Set(ran.data.draft.edits), new Set(edits));
  t.match(ran.err, '## Edited by hand since it was drafted');
});

t.test('an edited low-risk draft waits for confirmation', async (t) => {
  const sample = sampleFor(t);
  await using model = await scriptModel([submits(asking), ...makesFix]);
  const { data } = await ask(sample, model, []);
  const rest = data.draft.path.replace('intent.json', 'request.json');
  edit(rest, 'questions', []);
  edit(data.draft.path, 'intent.objectives', [...asking.objectives, 'src/price.js says why']);
  t.match(await call(sample, ['resume', data.run_id]), {
    code: 4,
    data: { waits_for: ['it was edited by hand'] },
  });
});

t.test('an edit looser than the profile is refused with its field', async (t) => {
  const sample = sampleFor(t);
  const before = sample.state();
  await using model = await scriptModel([submits(asking)]);
  const { data } = await ask(sample, model, []);
  const drafted = readFileSync(data.draft.path);
  for (const [field, value] of [
    ['constraints.security.networkPolicy', 'allow'],
    ['constraints.privacy.retentionDays', 3650],
    ['metadata.createdBy', { type: 'user', id: 'somebody@else.example' }],
    ['extensions.writ/request.cost_units', 0],
  ] as const) {
    edit(data.draft.path, field, value);
    t.match(
      await call(sample, ['resume', data.run_id, '--yes']),
      {
        code: 1,
        error: {
          code: 'DRAFT_LOOSENED',
          details: { run_id: data.run_id, edits: [{ field: field.replace(/\.cost_units$/, '') }] },
          hints: [/undo that edit/, /writ spec new/],
        },
      },
      field,
    );
    writeFileSync(data.draft.path, drafted);
  }
  t.equal(sample.state(), before);
  t.match(await call(sample, ['resume', data.run_id]), { code: 4 });
});

const frame = {
  id: '0190f1d2-0000-7000-8000-000000000000',
  createdAt: '2026-01-01T00:00:00Z',
  createdBy: { type: 'user', id: 'ana@example.org' },
  repo: { type: 'local', locator: '/sample' },
  baseRef: 'main',
  summary: 'Prices are exact',
} as const;

function editsOf(drafted: IntentSpec, field: string, value: unknown) {
  const edited = structuredClone(applyDefaults(drafted)) as unknown as Part;
  const names = field.split('.');
  const part = names.slice(0, -1).reduce((at, name) => at[name] as Part, edited);
  part[names.at(-1) ?? ''] = value;
  const kept = { runId: 'r', drafted: Buffer.from(JSON.stringify(drafted)) };
  return draftEdits(kept, edited as never);
}

t.test('an edit may only tighten strict fields and must keep the entries of the profile', async (t) => {
  for (const risk of ['low', 'medium', 'high'] as const) {
    const drafted: IntentSpec = { ...draftFromProfile({ ...frame, risk }) };
    for (const { field } of strictFields)
      t.match(editsOf(drafted, field, { none: true }), [{ field, refused: 'looser' }], `${risk} ${field}`);
    const effective = applyDefaults(drafted);
    t.strictSame(draftEdits({ runId: 'r', drafted: Buffer.from(JSON.stringify(drafted)) }, effective), []);
    const { securityChecks, releaseChecks } = effective.acceptance.verificationPlan;
    const lists = {
      'acceptance.verificationPlan.securityChecks': securityChecks,
      'acceptance.verificationPlan.releaseChecks': releaseChecks,
      'artifacts.required': effective.artifacts.required,
    };
    for (const [field, list] of Object.entries(lists)) {
      if (list.length === 0) continue;
      t.match(editsOf(drafted, field, list.slice(1)), [{ field, refused: 'looser' }], `${risk} ${field}`);
      t.notOk(editsOf(drafted, field, [...list, { more: true }])[0]?.refused, `${risk} more ${field}`);
    }
    if (risk !== 'low')
      t.match(editsOf(drafted, 'risk.level', 'low'), [{ field: 'risk.level', refused: 'looser' }]);
  }
  t.throws(
    () =>
      requireStricter({ runId: 'r', path: 'p' }, [
        { field: 'a.b', drafted: 1, edited: 'x'.repeat(500), refused: 'looser' },
      ]),
    { code: 'DRAFT_LOOSENED', message: /^`a\.b` was 1, and is "x{199}…/ },
  );
});
