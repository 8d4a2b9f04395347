import t from 'tap';
import { reduce } from '../../../session/state/reduce.ts';
import { toSnapshot } from '../../../session/state/snapshot.ts';
import { newWorld, take } from './walk.ts';

const local = { from: 'local' } as const;

t.test('the command line controls its session until a client attaches', async (t) => {
  const world = newWorld({ local: 'cli' });
  t.match(toSnapshot(world.state).controller, { kind: 'cli', canWrite: true });
  const said = take('says', world, { type: 'submit', text: '/ask Why?', proof: local });
  t.match(said.facts[0], { type: 'said', by: { kind: 'cli' } });
  t.equal(take('reclaims', world, { type: 'reclaim' }).refusal, 'UNSUPPORTED_OPERATION');
  const lease = { kind: 'browser', clientId: 'page', tokenDigest: 'd', expiresAtMs: 9, endsAtMs: 9 } as const;
  const attached = reduce(world.state, { type: 'attached', lease, atMs: 1 });
  t.match(toSnapshot(attached).controller, { kind: 'browser' });
  t.equal(
    take('says', { ...world, state: attached }, { type: 'submit', text: 'xyz', proof: local }).refusal,
    'CONTROLLER_CONFLICT',
  );
});
