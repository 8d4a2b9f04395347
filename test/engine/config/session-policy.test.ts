import t from 'tap';
import { sealingForms } from '../../../attest/attestor/sealing-forms.ts';
import { isWritError } from '../../../core/base/errors.ts';
import { parseConfig } from '../../../engine/config/config.ts';
import {
  approvalWithin,
  leastOf,
  mcpRefusal,
  type PolicyLevel,
  requireBudgetAllowed,
  requireModelAllowed,
  requireSpecAllowed,
} from '../../../engine/config/session-policy.ts';

const limitsOf = (text: string) => parseConfig(Buffer.from(text), sealingForms).session;

const repository = (limits: object): PolicyLevel => ({ ...limits, from: 'repository' });
const machine = (limits: object): PolicyLevel => ({ ...limits, from: 'machine' });

/** The level and the key that refuse, `allowed` without a refusal. */
function refusedBy(act: () => unknown): string {
  try {
    act();
  } catch (fault) {
    if (!isWritError(fault, 'SESSION_POLICY_EXCEEDED')) throw fault;
    return `${fault.detail.level} ${fault.detail.key}`;
  }
  return 'allowed';
}

t.test('`[session]` is read strictly, and without it there are no limits', async (t) => {
  t.equal(limitsOf(''), undefined);
  const whole = `[session]
    providers = ["anthropic", "openai@llm.example.com:8443", "ollama@[::1]:11434"]
    models = ["claude-*", "gpt-5.1", "*"]
    approval_policy = "untrusted"
    network = "deny"
    mcp = []
    session_usd = 20
    goal_tokens = 1000
    goal_cost_usd = 2.5
    goal_seconds = 60`;
  t.strictSame(limitsOf(whole), {
    providers: ['anthropic', 'openai@llm.example.com:8443', 'ollama@[::1]:11434'],
    models: ['claude-*', 'gpt-5.1', '*'],
    approvalPolicy: 'untrusted',
    network: 'deny',
    mcp: [],
    sessionUsd: 20,
    goalTokens: 1000,
    goalCostUsd: 2.5,
    goalSeconds: 60,
  });
  for (const [line, why] of [
    ['providers = ["open ai"]', /session\.providers\[0\].*name of a provider/],
    ['providers = ["openai@https://x"]', /session\.providers\[0\]/],
    ['models = ["a*b"]', /session\.models\[0\]/],
    ['approval_policy = "allow-all"', /session\.approval_policy.*"on-failure", "on-request", "untrusted"/],
    ['network = "allow"', /session\.network.*expected "deny"/],
    ['mcp = ["A"]', /session\.mcp\[0\]/],
    ['session_usd = 0', /session\.session_usd/],
    ['provider = ["openai"]', /unknown key, did you mean `providers`/],
  ] as const)
    t.throws(() => limitsOf(`[session]\n${line}`), { code: 'CONFIG_INVALID', message: why });
});

t.test('a provider is allowed at its own address, or at the one that is named', async (t) => {
  const policy = [repository({ providers: ['openai', 'anthropic@gate.example'] })];
  for (const [wanted, expected] of [
    [{ provider: 'openai', otherHost: false }, 'allowed'],
    [{ provider: 'openai', otherHost: 'gate.example' }, 'repository providers'],
    [{ provider: 'anthropic', otherHost: 'gate.example' }, 'allowed'],
    [{ provider: 'anthropic', otherHost: 'gate.example:8443' }, 'repository providers'],
    [{ provider: 'anthropic', otherHost: false }, 'repository providers'],
    // Before the address is known.
    [{ provider: 'anthropic' }, 'allowed'],
    [{ provider: 'gemini' }, 'repository providers'],
    [{ provider: 'replay:/some/where' }, 'repository providers'],
  ] as const)
    t.equal(
      refusedBy(() => requireModelAllowed(policy, wanted)),
      expected,
      JSON.stringify(wanted),
    );
});

t.test('every level has to allow a model, and the first that does not is named', async (t) => {
  const policy = [repository({ models: ['gpt-5*', 'o9'] }), machine({ models: ['gpt-*'], providers: [] })];
  const ask = (model: string, levels = policy) =>
    refusedBy(() => requireModelAllowed(levels, { provider: 'openai', model }));
  const models = policy.map(({ providers: _, ...level }) => level);
  t.equal(ask('gpt-5.1', models), 'allowed');
  t.equal(ask('gpt-4', models), 'repository models');
  t.equal(ask('o9', models), 'machine models');
  t.equal(ask('o9-mini', models), 'repository models');
  t.equal(ask('gpt-5.1'), 'machine providers', 'an empty list allows nothing');
  t.throws(() => requireModelAllowed(policy, { provider: 'openai' }), {
    message: '`openai` exceeds `providers` in /etc/writ/policy.toml of this machine, which allows nothing',
  });
});

t.test('an approval policy is as strict as every level demands', async (t) => {
  const policy = [machine({ approvalPolicy: 'on-request' }), repository({ approvalPolicy: 'on-failure' })];
  for (const [named, expected] of [
    ['allow-all', 'machine approval_policy'],
    ['on-failure', 'machine approval_policy'],
    ['on-request', 'allowed'],
    ['never', 'allowed'],
    ['untrusted', 'allowed'],
  ] as const)
    t.equal(
      refusedBy(() => approvalWithin(policy, named, 'on-request')),
      expected,
      named,
    );
  t.equal(approvalWithin(policy, undefined, 'on-request'), 'on-request');
  const strict = [...policy, repository({ approvalPolicy: 'untrusted' })];
  t.equal(approvalWithin(strict, undefined, 'on-request'), 'untrusted', 'a default follows');
  t.equal(
    refusedBy(() => approvalWithin(strict, 'never', 'on-request')),
    'repository approval_policy',
  );
});

t.test('budgets are the smallest of all levels', async (t) => {
  const policy = [repository({ sessionUsd: 5 }), machine({ sessionUsd: 2, goalTokens: 10 })];
  t.equal(leastOf(policy, 'sessionUsd', undefined), 2);
  t.equal(leastOf(policy, 'sessionUsd', 1), 1);
  t.equal(leastOf(policy, 'goalTokens', 100), 10);
  t.equal(leastOf(policy, 'goalSeconds', 60), 60);
  t.equal(leastOf([], 'sessionUsd', undefined), undefined);
  t.equal(
    refusedBy(() => requireBudgetAllowed(policy, 2)),
    'allowed',
  );
  t.equal(
    refusedBy(() => requireBudgetAllowed(policy, 3)),
    'machine session_usd',
  );
  t.equal(
    refusedBy(() => requireBudgetAllowed(policy, undefined)),
    'repository session_usd',
  );
});

t.test('a denied network refuses specs that open all hosts or some', async (t) => {
  const spec = (networkPolicy: string, networkHosts: readonly string[]) =>
    ({
      constraints: { security: { networkPolicy } },
      security: { toolAcl: { allow: [{ constraints: { networkHosts } }, {}] } },
    }) as unknown as Parameters<typeof requireSpecAllowed>[1];
  const policy = [machine({ network: 'deny' })];
  for (const [asked, expected] of [
    [spec('allow', []), 'machine network'],
    [spec('deny', ['example.com']), 'machine network'],
    [spec('deny', []), 'allowed'],
  ] as const)
    t.equal(
      refusedBy(() => requireSpecAllowed(policy, asked)),
      expected,
    );
  t.equal(
    refusedBy(() => requireSpecAllowed([machine({})], spec('allow', []))),
    'allowed',
  );
});

t.test('an MCP server has to be on every list', async (t) => {
  const policy = [repository({ mcp: ['notes', 'wiki'] }), machine({ mcp: ['notes'] })];
  t.equal(mcpRefusal(policy, 'notes'), undefined);
  t.match(mcpRefusal(policy, 'wiki'), /`wiki` exceeds `mcp` in \/etc\/writ\/policy.toml of this machine/);
  t.equal(mcpRefusal([machine({})], 'wiki'), undefined);
});
