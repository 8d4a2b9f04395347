import t from 'tap';
import type { ModelWork } from '../../../core/interfaces/model-work.ts';
import { modelsOf } from '../../../engine/record/claimed-run.ts';

const work = (model: string): ModelWork => ({
  provider: 'p',
  model,
  endpoint: 'p.example',
  agent: 'coder',
  tools: [],
  instructions: [],
  data_classes: ['public'],
  form: 'http',
  exchanges: [{ question: 'a'.repeat(64) }],
});
const record = (data: unknown) => ({ seq: 1, at: '', type: 'model-called', data, prev: '' });

t.test('a journal that is only a claim cannot name endless models, or a call in another form', async (t) => {
  const many = Array.from({ length: 51 }, (_, n) => record(work(`m${n}`)));
  t.equal(modelsOf({}, many.slice(1)).length, 50);
  t.throws(() => modelsOf({}, many), { code: 'JOURNAL_CORRUPT' });
  t.throws(() => modelsOf({}, [record({ ...work('m'), prompt: 'words' })]), { code: 'JOURNAL_CORRUPT' });
});
