import t from 'tap';
import type { LifecycleStatus } from '../../core/interfaces/intentspec.gen.ts';
import { assertLifecycleMove, supportedApiVersion } from '../../spec/checks-of.ts';

const statuses: readonly LifecycleStatus[] = ['draft', 'active', 'deprecated', 'closed'];

t.test('an illegal lifecycle transition is refused with both of its states', async (t) => {
  const legal = new Set(['draft active', 'draft closed', 'active deprecated', 'active closed']);
  for (const from of statuses) {
    for (const to of statuses) {
      if (legal.has(`${from} ${to}`)) t.doesNotThrow(() => assertLifecycleMove(from, to), `${from} to ${to}`);
      else
        t.throws(
          () => assertLifecycleMove(from, to),
          { code: 'LIFECYCLE_ILLEGAL_TRANSITION', detail: { from, to } },
          `${from} to ${to}`,
        );
    }
  }
});

t.test('only v1alpha1 is supported, under any domain', async (t) => {
  for (const version of ['intentspec.io/v1alpha1', 'intentspec.bakery.example/v1alpha1'])
    t.equal(supportedApiVersion(version), true);
  for (const version of [
    'intentspec.io/v1',
    'intentspec.io/v1alpha2',
    'intentspec.io/v1beta1',
    'intentspec.io/v2alpha1',
    'intentspec.io/v11alpha1',
    'intentspec.io/v1alpha11',
  ]) {
    t.equal(supportedApiVersion(version), false, version);
  }
});
