import t from 'tap';
import { attach, reclaim, release, requireWriter } from '../../../session/state/control.ts';
import { dispatch } from '../../../session/state/converse.ts';
import type { Lease, Proof } from '../../../session/state/fact.ts';
import type { Interaction } from '../../../session/state/interaction.ts';
import type { Question } from '../../../session/state/question.ts';
import type { SessionState } from '../../../session/state/state.ts';
import { ground, newWorld } from './walk.ts';

const moment = { nowMs: 1000, monotonicMs: 50, newId: () => 'new' };
const renewedUntil = { expiresAtMs: 121_000, endsAtMs: 120_050 };
const lease: Lease = { kind: 'browser', clientId: 'a', tokenDigest: 'd', expiresAtMs: 1, endsAtMs: 1 };
const question = (id: string, asked: Question): Interaction => ({
  id,
  ...asked,
  subject: `subject of ${id}`,
  status: 'pending',
  requestedAtMs: 5,
});
const interactions = [
  question('i1', { kind: 'approval', metadata: { needsConfirmation: 'allow_all_commands', tool: 'p' } }),
  question('i2', { kind: 'post_plan_choice', metadata: { planId: 'p' } }),
];
const withdrawn = [
  { type: 'withdrawn', id: 'i1', why: 'taken-over' },
  {
    type: 'asked',
    interaction: { ...interactions[0], id: 'new', metadata: { tool: 'p' }, requestedAtMs: 1000 },
  },
];

function stateWith(more: Partial<SessionState>): SessionState {
  return { ...newWorld().state, ...more };
}

const asking = { type: 'attach', clientId: 'a', tokenDigest: 'd', controlToken: 'valid' } as const;

t.test('who may attach', async (t) => {
  const closed = stateWith({ ground: ground({ attachable: [] }) });
  const rows = [
    ['an unknown kind', stateWith({}), { kind: 'terminal' }, 'INVALID_CONTROLLER_KIND'],
    ['a browser where none may', closed, { kind: 'browser' }, 'BROWSER_CONTROL_DISABLED'],
    ['a program where none may', closed, { kind: 'automation' }, 'CONTROL_DISABLED'],
    [
      'a program without its token',
      stateWith({}),
      { kind: 'automation', controlToken: 'missing' },
      'MISSING_CONTROL_TOKEN',
    ],
    [
      'a program with another token',
      stateWith({}),
      { kind: 'automation', controlToken: 'invalid' },
      'INVALID_CONTROL_TOKEN',
    ],
    ['another client', stateWith({ lease }), { kind: 'browser', clientId: 'b' }, 'CONTROLLER_CONFLICT'],
    ['a client of another kind', stateWith({ lease }), { kind: 'automation' }, 'CONTROLLER_CONFLICT'],
  ] as const;
  for (const [name, state, change, code] of rows)
    t.throws(() => attach(state, { ...asking, ...change }, moment), { code }, name);
  t.throws(() => attach(stateWith({ lease }), { ...asking, kind: 'browser', clientId: 'b' }, moment), {
    code: 'CONTROLLER_CONFLICT',
    detail: { reason: 'lease_held', kind: 'browser' },
  });
  t.throws(() => attach(stateWith({}), { ...asking, kind: 'x' }, moment), {
    code: 'INVALID_CONTROLLER_KIND',
    message: /browser or automation/,
    detail: { kind: 'x' },
  });
});

t.test('a lease is granted, renewed by its holder, and takes over open approvals', async (t) => {
  const given = { kind: 'browser', clientId: 'a', tokenDigest: 'd', ...renewedUntil } as const;
  const browser = { ...asking, kind: 'browser' } as const;
  t.strictSame(attach(stateWith({ interactions }), { ...browser, controlToken: 'missing' }, moment), {
    facts: [{ type: 'attached', lease: given }, ...withdrawn],
    wants: [],
    lease: given,
  });
  t.strictSame(
    attach(stateWith({ interactions, holder: 'browser a' }), browser, moment).facts,
    [{ type: 'attached', lease: given }],
    'whoever comes back saw the questions',
  );
  t.strictSame(attach(stateWith({ lease, interactions }), browser, moment), {
    facts: [{ type: 'renewed', ...renewedUntil }],
    wants: [],
    lease: given,
  });
});

t.test('a screen takes the session back, and nobody else does', async (t) => {
  const held = stateWith({ lease, holder: 'browser a', interactions });
  t.strictSame(reclaim(held, moment), {
    facts: [{ type: 'released', why: 'reclaimed' }, ...withdrawn],
    wants: [],
  });
  t.strictSame(reclaim(stateWith({}), moment), { facts: [], wants: [] });
  for (const local of ['none', 'cli'] as const)
    t.throws(() => reclaim({ ...held, ground: ground({ local }) }, moment), {
      code: 'UNSUPPORTED_OPERATION',
    });
  const only = [{ type: 'released', why: 'expired' }];
  t.strictSame(release(held, 'expired', moment), [...only, ...withdrawn]);
  t.strictSame(release({ ...held, ground: ground({ local: 'none' }) }, 'expired', moment), only);
  t.strictSame(release({ ...held, holder: 'local' }, 'expired', moment), only);
});

t.test('who may write', async (t) => {
  const client = (more: Partial<Extract<Proof, { from: 'client' }>> = {}): Proof => ({
    from: 'client',
    tokenDigest: 'd',
    controlToken: 'missing',
    ...more,
  });
  const local: Proof = { from: 'local' };
  t.strictSame(requireWriter(stateWith({}), local), { kind: 'tui' });
  t.strictSame(requireWriter(stateWith({ ground: ground({ local: 'cli' }) }), local), { kind: 'cli' });
  t.throws(() => requireWriter(stateWith({ lease }), local), {
    code: 'CONTROLLER_CONFLICT',
    detail: { reason: 'lease_held', kind: 'browser' },
  });
  t.strictSame(requireWriter(stateWith({ lease }), client()), { kind: 'browser', clientId: 'a' });
  const automation = stateWith({ lease: { ...lease, kind: 'automation' } });
  t.strictSame(requireWriter(automation, client({ controlToken: 'valid' })), {
    kind: 'automation',
    clientId: 'a',
  });
  const rows = [
    [stateWith({ lease }), { from: 'client', controlToken: 'valid' }, 'MISSING_CONTROLLER_TOKEN'],
    [stateWith({ lease }), client({ tokenDigest: 'e' }), 'INVALID_CONTROLLER_TOKEN'],
    [stateWith({}), client(), 'INVALID_CONTROLLER_TOKEN'],
    [automation, client(), 'MISSING_CONTROL_TOKEN'],
    [automation, client({ controlToken: 'invalid' }), 'INVALID_CONTROL_TOKEN'],
  ] as const;
  for (const [state, proof, code] of rows) t.throws(() => requireWriter(state, proof), { code });
});

t.test('only a program that controls the session dispatches an agent', async (t) => {
  const about = { agent: 'reviewer', prompt: 'Look.' };
  const by = (kind: 'browser' | 'automation') =>
    dispatch(stateWith({}), about, { kind, clientId: 'a' }, moment);
  t.throws(() => by('browser'), { code: 'AUTOMATION_CONTROLLER_REQUIRED' });
  t.match(by('automation').wants, [{ type: 'turn', agent: 'reviewer' }]);
});
