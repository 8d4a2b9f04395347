import t from 'tap';
import type { SandboxBackend } from '../../../core/interfaces/sandbox.ts';
import { createEngine } from '../../../core/kernel/engine.ts';
import { sandboxPlugin } from '../../../plugins/sandbox/plugin.ts';
import { contractRows } from '../../../spec/contract-rows.ts';
import { long } from '../../rooms/long.ts';
import { sandboxTester } from './sandbox-tester.ts';

// Beside everything else of a busy machine.
t.setTimeout(240_000);

await using engine = await createEngine({ plugins: [sandboxPlugin], rows: contractRows, report: () => {} });
const { sandbox: slot } = engine.slots;
const working: SandboxBackend[] = [];
const confining: string[] = [];
for (const name of slot.names) {
  const backend = await slot.pick(name);
  t.equal(backend.name, name, 'a back end bears the name that it is picked by');
  if (!backend.unconfined) confining.push(name);
  const { works, enforced, reason } = await backend.probe();
  t.ok(works || enforced.length === 0, 'what does not work enforces nothing');
  if (works) working.push(backend);
  else t.comment(`${name} does not work here: ${reason}`);
}
t.ok(working.length > 0, 'at least one back end works here, or nothing below means anything');
// These are the ones that `sandbox-attack.test.ts` and `attack/confinement` attack: a new one belongs into both.
t.strictSame(confining, ['bubblewrap', 'unshare']);

for (const backend of working)
  if (backend === working[0]) await sandboxTester(t, backend);
  else long(`${backend.name} keeps what a sandbox promises`, (t) => sandboxTester(t, backend));
