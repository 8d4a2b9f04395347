import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t, { type Test } from 'tap';
import { readCodeLine } from '../../../bin/code/code-line.ts';
import { readSessionOptions } from '../../../bin/code/serve-line.ts';
import type { CommandOptions } from '../../../bin/command-parts/command.ts';
import { codeCommands } from '../../../bin/command-table/code-commands.ts';
import { parseArguments } from '../../../bin/dispatch.ts';
import { createPrinter } from '../../../bin/terminal/print.ts';
import { isWritError } from '../../../core/base/errors.ts';
import { openRepository } from '../../../workspace/git/repository.ts';
import { makeSample } from '../../engine/sample.ts';
import { long } from '../../rooms/long.ts';

const cwd = '/place';

function optionsOf(argv: readonly string[]): CommandOptions {
  const invocation = parseArguments(['code', ...argv], codeCommands);
  if (invocation.kind !== 'command') throw new Error(invocation.kind);
  return invocation.options;
}

const line = (...argv: readonly string[]) => readCodeLine({ args: [], options: optionsOf(argv), cwd });

/** What was thrown: its code, its exit code and its sentence. */
function refusalOf(act: () => unknown): string {
  try {
    act();
  } catch (fault) {
    if (isWritError(fault)) return `${fault.code} ${fault.exitCode}: ${fault.message}`;
    throw fault;
  }
  return 'taken';
}

t.test('an empty command line uses every default', async (t) => {
  t.strictSame(line(), {
    mode: 'terminal',
    workingDir: cwd,
    web: { host: '127.0.0.1', port: 3000 },
    mcpPort: 6789,
    replaceable: ['web', 'mcp'],
    control: { mode: 'observe', tokenFile: undefined, infoFile: undefined },
    browserControl: undefined,
    provider: undefined,
    model: undefined,
    agent: undefined,
    context: undefined,
    resume: undefined,
    listsThreads: false,
    continues: false,
    text: undefined,
    print: undefined,
    yes: false,
    events: false,
    approvalPolicy: undefined,
    approvalTtlSeconds: undefined,
    networkAccess: undefined,
    goal: undefined,
  });
});

t.test('every option and alias sets its documented value', async (t) => {
  const rows: readonly (readonly [string, object])[] = [
    ['--web-only', { mode: 'web' }],
    ['--web', { mode: 'web' }],
    ['--stdio', { mode: 'stdio' }],
    ['--mcp-stdio', { mode: 'stdio' }],
    ['--acp', { mode: 'acp' }],
    ['-p 3000', { replaceable: ['mcp'] }],
    ['--mcp-port 6789', { replaceable: ['web'] }],
    ['--web-only', { replaceable: ['mcp'] }],
    ['--web-only --mcp-port 6789', { replaceable: [] }],
    ['-p 0', { web: { host: '127.0.0.1', port: 0 } }],
    ['--port=8080 --host ::1', { web: { host: '::1', port: 8080 } }],
    ['--host localhost', { web: { host: '127.0.0.1' } }],
    ['--host 0.0.0.0', { web: { host: '0.0.0.0' } }],
    ['--mcp-port 0', { mcpPort: 0 }],
    ['--cwd sub', { workingDir: '/place/sub' }],
    ['--control write --control-token-file t', { control: { mode: 'write', tokenFile: '/place/t' } }],
    ['--control-info-file /i', { control: { mode: 'observe', infoFile: '/i' } }],
    ['--browser-control loopback', { browserControl: 'loopback' }],
    ['--provider codex --model m', { provider: 'codex', model: 'm' }],
    ['--approval-ttl 0', { approvalTtlSeconds: 0 }],
    ['--network-access allow', { networkAccess: 'allow' }],
    ['--resume 0198', { resume: '0198', listsThreads: false }],
    ['--resume', { resume: undefined, listsThreads: true }],
    ['--resume --plain', { resume: undefined, listsThreads: true }],
    ['--context dev', { context: 'dev' }],
    ['--context development', { context: 'dev' }],
    ['--context code-review', { context: 'review' }],
    ['--context explore', { context: 'research' }],
    ...['never', 'on-failure', 'on-request', 'untrusted', 'allow-all'].map(
      (name) => [`--approval-policy ${name}`, { approvalPolicy: name }] as const,
    ),
    ...['allow_all', 'always', 'accept'].map(
      (name) => [`--approval-policy ${name}`, { approvalPolicy: 'allow-all' }] as const,
    ),
    ['--approval-policy none', { approvalPolicy: 'never' }],
    ['--approval-policy unless-trusted', { approvalPolicy: 'untrusted' }],
  ];
  for (const [words, expected] of rows) t.match(line(...words.split(' ')), expected, words);
  t.equal(line('--goal', '  make it  ').goal, 'make it');
  t.equal(line('--goal', 'g'.repeat(16 * 1024)).goal?.length, 16 * 1024);
});

t.test('contradictory or invalid options are usage errors with a reason', async (t) => {
  const rows: readonly (readonly [string, RegExp])[] = [
    ['--web-only --stdio', /`--web-only` does not go with `--stdio`/],
    ['--web --mcp-stdio', /`--web-only` does not go with `--stdio`/],
    ['--control write --stdio', /`--control write` does not go with `--stdio`/],
    ['--control write --host 0.0.0.0', /`--control write` does not go with `--host 0.0.0.0`/],
    ['--control write --host 192.168.1.2', /this machine/],
    ['--browser-control off --stdio', /`--browser-control` does not go with `--stdio`/],
    ['--browser-control loopback --host ::', /this machine/],
    ['--resume x --web-only', /`--resume` does not go with `--web-only`/],
    ['--resume --web-only', /`--resume` does not go with `--web-only`/],
    ['--resume --print x', /`--print` does not go with `--resume`: nobody is there to choose/],
    ['--resume= --plain', /`--resume` needs a value/],
    ['--resume x --stdio', /`--resume` does not go with `--stdio`/],
    ['--goal x --stdio', /`--goal` does not go with `--stdio`/],
    ...[
      '--web-only',
      '--stdio',
      '--print x',
      '-p 1',
      '--host ::1',
      '--mcp-port 1',
      '--goal x',
      '--resume x',
    ].map((other) => [`--acp ${other}`, /`--acp` does not go with `--/] as const),
    ['--acp --continue', /`--acp` does not go with `--continue`: the editor says/],
    ['--acp --control observe', /`--acp` does not go with `--control`: nothing is served/],
    ['--acp --browser-control off', /`--acp` does not go with/],
    ['--cwd a --repo b', /both say where/],
    ['--host example.org', /expected an address for `--host`/],
    ['--host fe80::1%eth0', /expected an address for `--host`/],
    ['--port 65536', /whole number up to 65535/],
    ['--mcp-port -1', /needs a value/],
    ['--approval-ttl 1.5', /whole number/],
    ['--approval-ttl 86401', /up to 86400/],
    ['--approval-policy sometimes', /does not know `sometimes`/],
    ['--context none', /does not know `none`/],
    ['--control all', /does not know `all`/],
    ['--network-access ask', /does not know `ask`/],
    ['--provider gemini --provider openai', /given twice/],
  ];
  for (const [words, why] of rows) {
    const refusal = refusalOf(() => line(...words.split(' ')));
    t.match(refusal, /^USAGE 129: /, words);
    t.match(refusal, why, words);
  }
  for (const goal of [' \n', 'é'.repeat(8 * 1024 + 1)])
    t.match(
      refusalOf(() => line('--goal', goal)),
      /^USAGE 129: expected a goal of 1 to 16384 octets/,
    );
  for (const words of ['--control write --host 127.0.0.9', '--browser-control off --host 0.0.0.0'])
    t.equal(
      refusalOf(() => line(...words.split(' '))),
      'taken',
    );
});

/** Options as a whole, in a repository of its own. */
function scene(t: Test) {
  const sample = makeSample();
  t.teardown(() => sample.remove());
  const notes: string[] = [];
  const sink = { write: (text: string) => void notes.push(text), flush: async () => {} };
  const print = createPrinter(sink as never, sink as never, {
    quiet: false,
    colourOut: false,
    colourErr: false,
    before: () => {},
  });
  const put = (path: string, text: string): void => {
    mkdirSync(join(path, '..'), { recursive: true });
    writeFileSync(path, text);
  };
  const read = async (words: string, env: Readonly<Record<string, string>> = {}) => {
    notes.length = 0;
    const options = optionsOf(words.split(' ').filter((word) => word !== ''));
    const context = { options, cwd: sample.root, env: { ...sample.env, ...env }, print };
    return readSessionOptions(
      context,
      readCodeLine({ args: [], options, cwd: sample.root }),
      await openRepository(sample.root),
      (name) => env[name],
      async () => ({ provider: 'gemini' }),
    );
  };
  return { ...sample, put, read, notes };
}

long('session options come from the command line, profile, environment and policy', async (t) => {
  const { root, home, git, put, read, notes } = scene(t);
  t.match(await read(''), {
    model: { provider: 'gemini', flags: {} },
    browserControl: 'off',
    approval: { policy: 'on-request', ttlSeconds: 300 },
    context: 'dev',
    planMode: false,
  });

  await t.test('provider flags are read from options and the environment', async (t) => {
    const flagsOf = async (words: string, env = {}) => (await read(words, env)).model.flags;
    t.strictSame(await flagsOf('--provider ollama', { OLLAMA_THINK: 'low', OLLAMA_COMPACT_TOOLS: '1' }), {
      'ollama-thinking': 'low',
      'ollama-compact-tools': 'on',
    });
    t.match(await flagsOf('--provider ollama --thinking high', { OLLAMA_THINK: 'low' }), {
      'ollama-thinking': 'high',
    });
    t.match(await flagsOf('--provider deepseek --deepseek-reasoning-effort xhigh --stream true'), {
      'deepseek-reasoning-effort': 'max',
      'deepseek-stream': 'true',
    });
    t.strictSame(await flagsOf('--provider ollama --ollama-thinking off --ollama-compact-tools on'), {
      'ollama-thinking': 'off',
      'ollama-compact-tools': 'on',
    });
    t.match(await flagsOf('--provider deepseek --deepseek-thinking enabled --deepseek-stream true'), {
      'deepseek-thinking': 'enabled',
      'deepseek-stream': 'true',
    });
    t.match(await flagsOf('--provider kimi --kimi-thinking disabled --kimi-stream false'), {
      'kimi-thinking': 'disabled',
      'kimi-stream': 'false',
    });
    t.match(
      (await read('--provider openai --model m --temperature 0.5 --api-base http://127.0.0.1:9')).model,
      {
        model: 'm',
        temperature: 0.5,
        apiBase: 'http://127.0.0.1:9',
      },
    );
    for (const words of [
      '--provider openai --kimi-stream true',
      '--provider gemini --thinking low',
      '--provider kimi --stream true',
      '--plan-mode',
      '--provider openai --plan-mode true',
      '--codex-bin codex',
    ])
      await t.rejects(read(words), { code: 'PROVIDER_OPTION', exitCode: 129 }, words);
  });

  await t.test('plan mode is on by default for codex only', async (t) => {
    t.equal((await read('--provider codex')).planMode, true);
    t.equal((await read('--provider codex --plan-mode')).planMode, true);
    t.equal((await read('--provider codex --plan-mode=false')).planMode, false);
    t.equal((await read('--plan-mode=false')).planMode, false);
  });

  await t.test('browser control is on by default for codex on a loopback address only', async (t) => {
    t.equal((await read('--web-only --provider codex')).browserControl, 'loopback');
    t.equal((await read('--web-only --provider codex --host 0.0.0.0')).browserControl, 'off');
    t.equal((await read('--web-only --provider codex --browser-control off')).browserControl, 'off');
    t.equal((await read('--provider codex')).browserControl, 'off');
    t.equal((await read('--web-only')).browserControl, 'off');
  });

  await t.test('a read-only session has no network access', async (t) => {
    for (const words of ['--context review', '--context explore', '--agent planner']) {
      const { context, networkAccess } = await read(`${words} --network-access allow`);
      t.not(context, 'dev', words);
      t.equal(networkAccess, 'deny', words);
      t.match(notes.join(''), /`--network-access allow` does not count/);
    }
    t.equal((await read('--context dev --network-access allow')).networkAccess, 'allow');
  });

  await t.test('an agent profile sets the model as a whole and can only remove rights', async (t) => {
    put(
      join(root, '.writ', 'agents', 'bound.toml'),
      'description = "d"\ninstructions = "i"\nprimary = true\nmodel = "ollama/org/m:8b@high"\ncontext = "dev"\n',
    );
    const bound = await read('--agent bound --model other --provider openai --thinking low --context review');
    t.strictSame(bound.model, {
      provider: 'ollama',
      model: 'org/m:8b',
      flags: { 'ollama-thinking': 'high' },
    });
    t.equal(bound.context, 'review', 'its `dev` opens nothing');
    t.match(notes.join(''), /agent bound \(project\), asks org\/m:8b of ollama\n.*do not count/s);
    t.match(await read('--agent reviewer --context dev'), { context: 'review' });
    put(
      join(home, '.config', 'writ', 'agents', 'bound2.toml'),
      'description = "d"\ninstructions = "i"\nprimary = true\nmodel = "openai/m@high"\n',
    );
    await t.rejects(read('--agent bound2'), { code: 'AGENT_INVALID', exitCode: 129 });
    await t.rejects(read('--agent explorer'), {
      code: 'AGENT_UNKNOWN',
      exitCode: 129,
      detail: { expected: ['bound', 'bound2', 'coder', 'planner', 'reviewer'] },
    });
  });

  await t.test('the approval TTL comes from the policy commit, not from the working tree', async (t) => {
    put(join(root, '.writ', 'config.toml'), '[approval]\nttl_seconds = 60\n');
    t.equal((await read('')).approval.ttlSeconds, 300);
    git('add', '.writ/config.toml');
    git('commit', '--quiet', '-m', 'Policy');
    t.equal((await read('')).approval.ttlSeconds, 60);
    t.equal((await read('--approval-ttl 5')).approval.ttlSeconds, 5);
    put(join(root, '.writ', 'config.toml'), '[approval]\nttl_seconds = 86401\n');
    git('commit', '--quiet', '-am', 'No policy');
    await t.rejects(read(''), { code: 'CONFIG_INVALID', exitCode: 128 });
  });

  await t.test('the session budget comes from the policy', async (t) => {
    put(
      join(root, '.writ', 'config.toml'),
      '[budget]\nsession_usd = 2.5\n[models.own]\ninput = 1\noutput = 2\n',
    );
    git('commit', '--quiet', '-am', 'Budget');
    t.match(await read(''), { limitUsd: 2.5, priced: ['own'] });
    put(join(root, '.writ', 'config.toml'), '[budget]\nsession_usd = 0\n');
    git('commit', '--quiet', '-am', 'Nothing');
    await t.rejects(read(''), { code: 'CONFIG_INVALID', exitCode: 128 });
  });
});
