import t from 'tap';
import type { SandboxBackend } from '../../../core/interfaces/sandbox.ts';
import { createSlot } from '../../../core/kernel/slot.ts';
import { noSandbox } from '../../../plugins/sandbox/none.ts';
import { pickSandbox } from '../../../workspace/process/version-control.ts';

const { unconfined: _, ...confined } = noSandbox();
const backend = (name: string, reason?: string): SandboxBackend => ({
  ...confined,
  name,
  probe: async () =>
    reason === undefined ? { works: true, enforced: ['network'] } : { works: false, enforced: [], reason },
});
function slotOf(...backends: SandboxBackend[]) {
  const slot = createSlot<SandboxBackend>('sandbox');
  for (const one of backends) slot.add(one.name, one);
  return slot;
}

t.test('`auto` picks the first sandbox that works', async (t) => {
  t.equal((await pickSandbox('auto', slotOf(backend('a', 'broken'), backend('b'), backend('c')))).name, 'b');
});

t.test('`auto` reports an installed sandbox that it skipped before it picked another', async (t) => {
  const told: string[] = [];
  const tell = (name: string, reason: string): number => told.push(`${name}: ${reason}`);
  const absent: SandboxBackend = {
    ...backend('gone'),
    probe: async () => ({ works: false, enforced: [], reason: 'not installed', absent: true }),
  };
  await pickSandbox(
    'auto',
    slotOf(backend('a', 'broken'), absent, backend('b'), backend('c', 'later')),
    tell,
  );
  t.strictSame(told, ['a: broken']);
  await t.rejects(pickSandbox('auto', slotOf(backend('a', 'broken')), tell));
  t.strictSame(told, ['a: broken'], 'where none is taken the refusal says it');
});

t.test('`auto` never picks the sandbox `none`, and its refusal says what to install', async (t) => {
  const slot = slotOf(backend('a', 'broken'), backend('b', 'missing'), noSandbox());
  await t.rejects(pickSandbox('auto', slot), {
    code: 'SANDBOX_UNAVAILABLE',
    detail: { reasons: { a: 'broken', b: 'missing' } },
    hints: [/bubblewrap/],
  });
  t.equal((await pickSandbox('none', slot)).name, 'none', 'by name it can be had');
});

t.test('a named sandbox is used or refused, and never replaced by another', async (t) => {
  const slot = slotOf(backend('a', 'broken'), backend('b'));
  await t.rejects(pickSandbox('a', slot), { code: 'SANDBOX_UNAVAILABLE' });
  await t.rejects(pickSandbox('x', slot), { code: 'SLOT_UNKNOWN' });
});
