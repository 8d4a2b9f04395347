import t from 'tap';
import { createLedger, type LedgerRow } from '../../../core/kernel/ledger.ts';

interface Spec {
  readonly wants: readonly string[];
}

const row = (id: string, enforcedBy?: string): LedgerRow<[Spec]> => ({
  id,
  ...(enforcedBy === undefined ? {} : { enforcedBy }),
  asks: (spec) => spec.wants.includes(id),
});
const rows = [row('scope', 'core'), row('secrets'), row('log'), row('cost')];
const plugin = (name: string, ...enforces: string[]) => ({ name, enforces });

t.test('the ledger lists the core and plugins that enforce each row', async (t) => {
  const ledger = createLedger(rows, [
    plugin('vault', 'secrets', 'scope'),
    plugin('scanner', 'secrets'),
    plugin('idle'),
  ]);
  t.strictSame(ledger.entries, [
    { id: 'scope', enforcedBy: ['core', 'vault'] },
    { id: 'secrets', enforcedBy: ['vault', 'scanner'] },
    { id: 'log', enforcedBy: [] },
    { id: 'cost', enforcedBy: [] },
  ]);
  t.equal(ledger.enforced, 2);
  t.equal(ledger.total, 4);
});

t.test('a spec that needs unenforced rows is refused with all of them in order', async (t) => {
  const ledger = createLedger(rows, [plugin('vault', 'secrets')]);
  t.strictSame(ledger.asked({ wants: ['cost', 'secrets', 'log'] }), ['secrets', 'log', 'cost']);
  t.strictSame(ledger.unenforced({ wants: ['cost', 'secrets', 'log'] }), ['log', 'cost']);
  t.throws(() => ledger.check({ wants: ['cost', 'secrets', 'log'] }), {
    code: 'SPEC_UNENFORCED',
    detail: { rows: ['log', 'cost'] },
  });
  t.doesNotThrow(() => ledger.check({ wants: ['scope', 'secrets'] }));
});

t.test('a row of a plugin that is not loaded is unenforced', async (t) => {
  const ledger = createLedger([row('secrets', 'vault')], []);
  t.throws(() => ledger.check({ wants: ['secrets'] }), { code: 'SPEC_UNENFORCED' });
});

t.test('without plugins only core rows are enforced', async (t) => {
  t.strictSame(createLedger(rows, []).unenforced({ wants: ['scope', 'secrets', 'log', 'cost'] }), [
    'secrets',
    'log',
    'cost',
  ]);
});

t.test('a plugin that claims an unknown row is an error', async (t) => {
  t.throws(() => createLedger(rows, [plugin('vault', 'secret')]), {
    code: 'PLUGIN_INVALID',
    detail: { plugin: 'vault', row: 'secret' },
    hints: [/`secrets`/],
  });
  t.throws(() => createLedger([row('a'), row('a')], []), { code: 'INTERNAL' });
});
