import t from 'tap';
import { reduce } from '../../../session/state/reduce.ts';
import { toSnapshot } from '../../../session/state/snapshot.ts';
import { ground, newWorld, take, type World } from './walk.ts';

const local = { from: 'local' } as const;

const say = (world: World, text: string) => take(text, world, { type: 'submit', text, proof: local });

/** What stands after these messages, each of which must be accepted. */
function after(world: World, ...texts: readonly string[]): World {
  return texts.reduce((before, text) => {
    const step = say(before, text);
    if (step.refusal !== undefined) throw new Error(`${text}: ${step.refusal}`);
    return step.after;
  }, world);
}

t.test('a setting changes at once, with an event and a note but without a turn', async (t) => {
  const { facts, wants, after: world } = say(newWorld(), '/network allow');
  t.strictSame(wants, [], 'no model is asked');
  t.match(facts, [
    { type: 'said', text: '/network allow', by: { kind: 'tui' } },
    { type: 'set', settings: { context: 'dev', networkAccess: 'allow' } },
    { type: 'noted', title: 'Settings', text: /^network allow: / },
  ]);
  t.equal(world.state.status, 'idle');
  t.strictSame(toSnapshot(world.state).settings, { context: 'dev', networkAccess: 'allow' });
  const model = after(world, '/model org/other:8b');
  t.match(toSnapshot(model.state), {
    settings: { model: 'org/other:8b', networkAccess: 'allow' },
    provider: { provider: 'none', model: 'org/other:8b', managed: false },
  });
});

t.test('`/context` accepts aliases, and a read-only context closes the network', async (t) => {
  for (const [text, context] of [
    ['review', 'review'],
    ['code-review', 'review'],
    ['research', 'research'],
    ['explore', 'research'],
    ['dev', 'dev'],
    ['development', 'dev'],
  ] as const)
    t.equal(after(newWorld(), `/context ${text}`).state.settings.context, context, text);
  const world = after(newWorld(), '/network allow', '/context review');
  t.strictSame(world.state.settings, { context: 'review', networkAccess: 'deny' });
  t.match(world.state.transcript.at(-1)?.content, /network deny: what only reads gets none/);
  t.equal(say(world, '/network allow').refusal, 'UNSUPPORTED_OPERATION');
  t.equal(after(world, '/network deny', '/context dev').state.settings.networkAccess, 'deny', 'nor again');
});

t.test('an invalid setting is refused and changes nothing', async (t) => {
  for (const text of [
    '/network',
    '/network maybe',
    '/network allow now',
    '/context',
    '/context toString',
    '/context write',
    '/model',
    '/model two words',
    '/model \u001b[31m',
    `/model ${'x'.repeat(201)}`,
    '/model -flag',
  ]) {
    const world = newWorld();
    const step = say(world, text);
    t.equal(step.refusal, 'UNSUPPORTED_OPERATION', JSON.stringify(text));
    t.equal(step.after.state, world.state);
  }
});

t.test('context and model cannot change during a turn, but the network setting can', async (t) => {
  const busy = after(newWorld(), 'do it');
  t.equal(say(busy, '/context review').refusal, 'CONTROLLER_CONFLICT');
  t.equal(say(busy, '/model other').refusal, 'CONTROLLER_CONFLICT');
  const { after: world } = say(busy, '/network allow');
  t.match(world.state, { settings: { networkAccess: 'allow' }, status: 'thinking', turn: busy.state.turn });
});

t.test('only the user can make a read-only session writable, unless its agent is read-only', async (t) => {
  const reading = newWorld({ context: 'review' });
  t.equal(after(reading, '/context dev').state.settings.context, 'dev');
  const attached = take('', reading, {
    type: 'attach',
    clientId: 'b',
    kind: 'automation',
    tokenDigest: 'd',
    controlToken: 'valid',
  }).after;
  const proof = { from: 'client', tokenDigest: 'd', controlToken: 'valid' } as const;
  const asks = (world: World, text = '/context dev') =>
    take('', world, { type: 'submit', text, proof }).refusal;
  t.equal(asks(attached), 'UNSUPPORTED_OPERATION');
  const started = { ...attached, state: { ...attached.state, ground: ground() } };
  t.equal(asks(started), 'PERSON_REQUIRED', 'a session that was set to read');
  const writing = { ...started, state: { ...started.state, settings: ground() } };
  t.equal(asks(writing), undefined, 'nothing is widened');
  t.equal(asks(writing, '/network allow'), 'PERSON_REQUIRED');
  t.equal(asks(writing, '/network deny'), undefined);
  const bound = newWorld({ context: 'research', onlyReads: true });
  t.equal(say(bound, '/context dev').refusal, 'UNSUPPORTED_OPERATION');
  t.equal(say(bound, '/context review').refusal, undefined);
});

t.test('a resumed thread keeps its settings unless the new session names them', async (t) => {
  const { state } = after(newWorld(), '/network allow', '/model other');
  const resumed = (more: Parameters<typeof ground>[0]) =>
    reduce(state, { type: 'resumed', ground: ground(more), atMs: 1 }).settings;
  t.strictSame(resumed({}), { context: 'dev', networkAccess: 'allow', model: 'other' });
  t.strictSame(resumed({ named: ['networkAccess', 'model'] }), { context: 'dev', networkAccess: 'deny' });
  t.strictSame(
    resumed({ context: 'review', named: ['context'] }),
    { context: 'review', networkAccess: 'deny', model: 'other' },
    'what only reads gets no network',
  );
  t.strictSame(
    resumed({ provider: { provider: 'another', managed: false } }),
    { context: 'dev', networkAccess: 'allow' },
    'a model of another provider is none of this one',
  );
  t.equal(resumed({ context: 'research', onlyReads: true }).context, 'research', 'an agent that reads reads');
});

t.test('a budget and a resumed thread stay within the policy', async (t) => {
  const world = newWorld({ isPriced: true, limitUsd: 1, policy: [{ from: 'machine', sessionUsd: 2 }] });
  t.equal(say(world, '/budget 3').refusal, 'SESSION_POLICY_EXCEEDED');
  t.equal(say(world, '/budget off').refusal, 'SESSION_POLICY_EXCEEDED');
  t.equal(toSnapshot(after(world, '/budget 2').state).usage?.limitUsd, 2);
  const { state } = after(newWorld({ isPriced: true }), '/network allow', '/budget 50');
  const policy = [{ from: 'repository', sessionUsd: 5, network: 'deny' }] as const;
  const resumed = reduce(state, { type: 'resumed', ground: ground({ policy }), atMs: 1 });
  t.equal(resumed.settings.networkAccess, 'deny');
  t.equal(toSnapshot(resumed).usage?.limitUsd, 5);
});

t.test('a session in review context refuses to start a goal', async (t) => {
  const { after } = take('', newWorld(), { type: 'submit', text: '/context review', proof: local });
  const goal = { type: 'submit', text: '/goal start prices are exact', proof: local } as const;
  t.equal(take('', after, goal).refusal, 'UNSUPPORTED_OPERATION');
  t.equal(take('', newWorld(), goal).refusal, undefined);
});
