import t from 'tap';
import { sessionEnvironment } from '../../../bin/code/serve-code.ts';
import type { SessionOptions } from '../../../session/session-options.ts';

const options = (provider: string): SessionOptions => ({
  mode: 'web',
  workingDir: '/place',
  web: { host: '127.0.0.1', port: 0 },
  mcpPort: 0,
  control: { mode: 'write', tokenFile: undefined, infoFile: undefined },
  browserControl: 'off',
  model: { provider, flags: {} },
  agent: undefined,
  context: 'dev',
  named: [],
  onlyReads: false,
  resume: undefined,
  approval: { policy: 'on-request', ttlSeconds: 300 },
  limitUsd: undefined,
  priced: [],
  plainHttp: [],
  networkAccess: 'deny',
  planMode: provider === 'codex',
  goal: undefined,
  policy: [],
  hooks: { hooks: [], tree: '' },
  mcp: [],
  goalBudget: { tokens: 1, costUsd: 1, workMs: 1 },
});

/** Names of what a session with that provider offers, and of what it does not. */
function offersOf(provider: string) {
  const { capabilities } = sessionEnvironment(options(provider), { model: 'm' });
  const offered = Object.entries(capabilities);
  return {
    yes: offered.flatMap(([name, is]) => (is ? [name] : [])),
    no: offered.flatMap(([name, is]) => (is ? [] : [name])),
  };
}

t.test('a session offers all eight capabilities, and Codex all but structured questions', async (t) => {
  t.equal(offersOf('gemini').yes.length, 8);
  t.strictSame(offersOf('codex').no, ['structuredQuestions'], 'it asks a person nothing');
});

t.test('a Codex session is marked as managed, other providers are not', async (t) => {
  t.match(sessionEnvironment(options('codex'), { model: 'm' }).provider, {
    provider: 'codex',
    model: 'm',
    mode: 'plan',
    managed: true,
  });
  t.strictSame(sessionEnvironment(options('kimi'), { model: undefined }).provider, {
    provider: 'kimi',
    managed: false,
  });
});
