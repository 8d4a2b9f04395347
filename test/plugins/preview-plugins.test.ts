import t from 'tap';
import { systemClock } from '../../core/base/clock.ts';
import { askedOf } from '../../engine/open/open-parties.ts';
import { openEngine } from '../../plugins/preset/open-engine.ts';
import { builtInsFor } from '../../plugins/preset/preview-plugins.ts';
import { builtInLedger } from '../../spec/contract-rows.ts';

t.test('the built-ins answer the same with and without an engine', async (t) => {
  await using engine = await openEngine({
    env: {},
    ephemeralKey: false,
    clock: systemClock,
    report: () => {},
  });
  t.strictSame(engine.hooks.plan.draft.order, [], 'no built-in changes a plan');
  t.strictSame(engine.hooks.spec.check.order, [], 'no built-in adds to the checks of a contract');
  t.strictSame(builtInLedger().entries, engine.ledger.entries, 'who enforces each row');

  const opened = await askedOf(engine).sealingForms();
  const alone = await builtInsFor.sealingForms();
  const shape = ({ signers, logs }: typeof opened) => ({
    signers: [...signers].map(([name, { usage, settings, parse }]) => [
      name,
      usage,
      settings?.map(({ key, misplaced }) => [key, misplaced]),
      parse,
    ]),
    // A log without a section of its own is read as if it were not there.
    logs: [...logs].flatMap(([name, { readSection }]) => (readSection ? [[name, readSection]] : [])),
  });
  t.strictSame(shape(alone), shape(opened), 'how `[signer]` and `[log]` are read');

  // A store with credentials knows the environment of its engine.
  for (const name of engine.slots.store.names.filter((one) => one !== 'external-s3'))
    t.equal(await builtInsFor.stores.pick(name), await engine.slots.store.pick(name), `store ${name}`);
  t.match(await builtInsFor.stores.pick('external-s3'), { readsGit: true });
  await t.rejects(builtInsFor.stores.pick('attic'), { code: 'SLOT_UNKNOWN' });
});
