/* The `writ init` and `writ doctor` commands. */
import { existsSync } from 'node:fs';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { openKeyFile, openUserSigningKey, publicKeyPath } from '../../attest/keys/key-signer.ts';
import { userKeysDir } from '../../attest/keys/user-config-dir.ts';
import { openUserLedger } from '../../attest/log/internal-ledger-source.ts';
import { loadAnchors } from '../../attest/verify/anchors.ts';
import { systemClock } from '../../core/base/clock.ts';
import { isWritError, messageOf, WritError } from '../../core/base/errors.ts';
import { readGuarded } from '../../core/base/files.ts';
import { readMachinePolicy } from '../../engine/config/read-session-policy.ts';
import { machinePolicyPath } from '../../engine/config/session-policy.ts';
import { listenableAddresses } from '../../http/guard-request.ts';
import { builtInProviders } from '../../providers/built-in-providers.ts';
import { findServicePlace, serviceStatus } from '../../service/find-service.ts';
import type { WritEngine } from '../../spec/contract-rows.ts';
import { findLandingRemote } from '../../store/landed.ts';
import { openStores } from '../../store/stores.ts';
import { openRepository, trackedState } from '../../workspace/git/repository.ts';
import { execFileBounded } from '../../workspace/process/spawn.ts';
import { type CommandContext, type CommandResult, refused, succeeded } from '../command-parts/command.ts';
import { openEngine } from '../command-parts/engine.ts';
import { broughtProviders, describeProvider } from '../command-parts/providers.ts';
import { styled } from '../terminal/print.ts';

const pythonLocks = ['uv.lock', 'poetry.lock', 'requirements.txt', 'pyproject.toml'];

/** With what the project could share, as a comment: that a check sees it is its owner's decision. */
export function configText(root: string): string {
  const lock = pythonLocks.find((name) => existsSync(join(root, name)));
  const ofPython = lock !== undefined && existsSync(join(root, '.venv', 'bin', 'python'));
  return `# Settings of writ for this repository; read from the policy commit of a run, never from the working tree.
# Every setting and its default: \`writ help config\`

[workspace]
# share = ["${ofPython ? '.venv' : 'node_modules'}"]
${ofPython ? `# lockfile = "${lock}"\n` : ''}`;
}

/** Only these are tracked below \`.writ/\`; everything else there is state of one machine. */
const ignoreText = [
  '*',
  '!.gitignore',
  ...trackedState.files.map((name) => `!${name}`),
  ...trackedState.folders.flatMap((name) => [`!${name}/`, `!${name}/**`]),
  '',
].join('\n');

/** `writ init`: creates state directory, signing key and ledger. A repeated call changes no existing part. */
export async function initCommand(context: CommandContext): Promise<CommandResult> {
  const repository = await openRepository(context.repoPath ?? context.cwd);
  const stateDir = join(repository.root, '.writ');
  await mkdir(stateDir, { recursive: true });
  const created: string[] = [];
  for (const [name, text] of [
    ['config.toml', configText(repository.root)],
    ['.gitignore', ignoreText],
  ] as const) {
    if (await createOnce(join(stateDir, name), text)) created.push(`.writ/${name}`);
  }
  const signer = await openUserSigningKey(context.env);
  const vkey = await openUserLedger(repository.commonDir, context.env, systemClock).vkey();
  const origin = vkey.split('+')[0] ?? '';
  const data = {
    state_dir: stateDir,
    key_id: signer.keyId,
    ledger_origin: origin,
    ledger_vkey: vkey,
    created,
  };
  return succeeded(data, (printer) => {
    printer.line(created.length > 0 ? `created ${created.join(', ')}` : 'nothing to create');
    printer.line(`  signing key  ${signer.keyId}`);
    printer.line(`  ledger       ${origin}`);
    printer.line(`  next         commit .writ/config.toml, then: writ spec new -o intent.json`);
  });
}

/** True where the file was made; an existing one, a symlink too, is left alone. */
async function createOnce(path: string, text: string): Promise<boolean> {
  try {
    await writeFile(path, text, { flag: 'wx' });
    return true;
  } catch (fault) {
    if ((fault as NodeJS.ErrnoException).code === 'EEXIST') return false;
    throw fault;
  }
}

interface Diagnosis {
  readonly id: string;
  readonly status: 'ok' | 'missing' | 'failed';
  readonly detail: string;
  /** Without it, no run is possible here. */
  readonly needed: boolean;
}

/** What a run opens, and makes where it is absent: the signing key and the key of the ledger. */
const ownKeys = [
  ['signing', 'ecdsa-p256-sha256'],
  ['ledger', 'ed25519'],
] as const;

/** `writ doctor`: what works here. Exit 128 where a run could not work. */
export async function doctorCommand(context: CommandContext): Promise<CommandResult> {
  await using engine = await openEngine(context);
  const checks: Diagnosis[] = [
    await diagnose('node', true, async () => process.version),
    await diagnose('git', true, () => gitVersion(context)),
    await diagnose(
      'repository',
      false,
      async () => (await openRepository(context.repoPath ?? context.cwd)).root,
    ),
  ];
  checks.push(...(await diagnosePolicy()));
  checks.push(...(await diagnoseLanding(context)), ...(await diagnoseStore(context, engine)));
  const sandboxes: Diagnosis[] = [];
  for (const name of engine.slots.sandbox.names.filter((one) => one !== 'none')) {
    sandboxes.push(
      await diagnose(`sandbox-${name}`, false, async () => {
        const { works, enforced, reason } = await (await engine.slots.sandbox.pick(name)).probe({
          anew: true,
        });
        if (!works) throw new WritError('SANDBOX_UNAVAILABLE', { message: reason ?? 'does not work here' });
        return `enforces ${enforced.join(', ')}`;
      }),
    );
  }
  checks.push(...sandboxes);
  if (!sandboxes.some(({ status }) => status === 'ok')) {
    checks.push({
      id: 'sandbox',
      status: 'missing',
      needed: true,
      detail: 'install bubblewrap or util-linux, and allow user namespaces (`writ help sandbox`)',
    });
  }
  const usable = sandboxes.find(({ status }) => status === 'ok')?.id.slice('sandbox-'.length);
  checks.push(await diagnose('tracer', false, () => describeTracer(engine, usable)));
  checks.push(await diagnose('signing-key', true, () => describeKeys(context)));
  checks.push(
    await diagnose('ports', false, describePorts),
    await diagnose('service', false, () => describeService(context)),
  );
  for (const [name, load] of Object.entries(builtInProviders))
    checks.push(
      await diagnose(`provider-${name}`, false, async () => describeProvider(name, await load(), context)),
    );
  for (const { name, plugin, source } of await broughtProviders(context, engine.slots.provider.names))
    checks.push(
      await diagnose(
        `provider-${name}`,
        false,
        async () => `${await describeProvider(name, source, context)}; of plugin ${plugin}`,
      ),
    );
  checks.push({ id: 'plugins', status: 'ok', needed: true, detail: engine.plugins.join(', ') });
  const { enforced, total } = engine.ledger;
  checks.push({
    id: 'contract',
    status: 'ok',
    needed: false,
    detail: `${enforced} of ${total} contract rows enforced`,
  });

  const data = { checks: checks.map((check) => ({ ...check })) };
  const human = (printer: CommandContext['print']): void => {
    printer.table(
      checks
        .filter(({ id }) => id !== 'contract')
        .map(({ id, status, detail, needed }) => [
          styled(status === 'ok' ? 'green' : needed ? 'red' : 'yellow', status),
          id,
          detail,
        ]),
    );
    printer.line(styled('bold', conclusion(checks, usable)));
  };
  const broken = checks.find(({ status, needed }) => needed && status !== 'ok');
  if (!broken) return succeeded(data, human);
  return refused(
    new WritError('ENVIRONMENT_BROKEN', {
      message: `\`${broken.id}\`: ${broken.detail}`,
      detail: { check: broken.id },
    }),
    data,
    human,
  );
}

/** Answers in one line: can checks run here, is a model available, what is next. */
function conclusion(checks: readonly Diagnosis[], sandbox: string | undefined): string {
  const broken = checks.filter(({ status, needed }) => needed && status !== 'ok');
  if (broken.length > 0)
    return `Checks cannot run here. Next: mend ${broken.map(({ id }) => `\`${id}\``).join(', ')}, then run \`writ doctor\` again.`;
  const models = checks
    .filter(({ id, status }) => id.startsWith('provider-') && status === 'ok')
    .map(({ id }) => id.slice('provider-'.length));
  const model =
    models.length === 0
      ? 'No model is available: `writ code` needs one, `writ seal` needs none.'
      : `Models are available: ${models.join(', ')}.`;
  const isInRepository = checks.some(({ id, status }) => id === 'repository' && status === 'ok');
  const next = isInRepository ? '`git add` your change, then `writ seal`' : 'go to a git repository';
  return `Checks can run here, in ${sandbox ?? 'no sandbox'}. ${model} Next: ${next}.`;
}

/** Traces a command in the sandbox that a run uses. */
async function describeTracer({ slots }: WritEngine, sandbox: string | undefined): Promise<string> {
  const none = { works: false, reason: 'no sandbox works here' };
  const backend = sandbox === undefined ? undefined : await slots.sandbox.pick(sandbox);
  const { works, reason } = (await backend?.probeTracer?.()) ?? none;
  if (works) return `\`strace\` observes checks in sandbox \`${sandbox}\``;
  throw new WritError('TRACER_UNAVAILABLE', {
    message: `${reason ?? 'it does not work here'}. Without it writ compares runs with and without the new files (\`writ help tests-kept\`)`,
  });
}

/** Opens the private keys as a run does, so that it refuses the same ones; looks without making one. */
async function describePorts(): Promise<string> {
  const addresses = await listenableAddresses();
  if (addresses.length === 0)
    throw new WritError('PORT_UNAVAILABLE', { message: 'no port can be opened on the loopback address' });
  return `${addresses.join(' and ')} can be served`;
}

async function describeService({ repoPath, cwd }: CommandContext): Promise<string> {
  const place = await findServicePlace(await openRepository(repoPath ?? cwd));
  const { state, base_url: url, health } = await serviceStatus(place);
  if (state === 'running') return `runs on ${url}${health === 'ok' ? '' : ' and does not answer'}`;
  return state === 'stale' ? 'was killed; the next `writ service run` cleans up' : 'does not run';
}

async function describeKeys({ env }: CommandContext): Promise<string> {
  const directory = userKeysDir(env);
  let publicKey = '';
  for (const [name, algorithm] of ownKeys) {
    const path = join(directory, `${name}.pem`);
    if ((await readGuarded(path, true)) === undefined) continue;
    const signer = await openKeyFile(path, algorithm);
    if (name === 'signing') publicKey = `; public key: ${publicKeyPath(directory, name, signer)}`;
  }
  const { signers } = await loadAnchors({ keyFiles: [], ledgerKeys: [] }, env);
  const own = signers.filter(({ from }) => from === 'own');
  return own.length === 0
    ? 'none yet: made on first use'
    : own.map(({ keyId }) => keyId).join(', ') + publicKey;
}

/** Empty without a policy of this machine. */
async function diagnosePolicy(): Promise<readonly Diagnosis[]> {
  let isThere = true;
  const found = await diagnose('machine-policy', true, async () => {
    const limits = readMachinePolicy();
    isThere = limits !== undefined;
    return `${machinePolicyPath} limits ${Object.keys(limits ?? {}).length} settings (\`writ config print\`)`;
  });
  return isThere ? [found] : [];
}

/** Empty without a repository, or if its configuration names no remote. */
async function diagnoseLanding({ repoPath, cwd }: CommandContext): Promise<readonly Diagnosis[]> {
  const repository = await openRepository(repoPath ?? cwd).catch(() => undefined);
  const found = repository && (await findLandingRemote(repository));
  if (found === undefined) return [];
  const { remote, isKnown, known } = found;
  const detail = isKnown
    ? remote
    : `\`[landing] remote\` names \`${remote}\`, which \`git remote\` does not list (${known.slice(0, 10).join(', ') || 'none'}): the upstream of the branch counts instead. Correct it in \`.writ/config.toml\`, or add the remote`;
  return [{ id: 'landing-remote', needed: false, status: isKnown ? 'ok' : 'missing', detail }];
}

/** Puts with two writers, in the bucket that `[store.s3]` of the default branch names; empty without one. */
async function diagnoseStore(
  { repoPath, cwd }: CommandContext,
  { slots }: WritEngine,
): Promise<readonly Diagnosis[]> {
  const repository = await openRepository(repoPath ?? cwd).catch(() => undefined);
  const found: Diagnosis[] = [];
  for (const { name, objects, contentStore } of repository
    ? await openStores(slots.store, repository, systemClock)
    : []) {
    if (objects.content === undefined) continue;
    const fault = await objects.content.ready(true).catch((thrown: unknown) => thrown);
    const [only] = isWritError(fault, 'CONFIG_INVALID')
      ? (fault.detail.issues as readonly { path: string }[])
      : [];
    if (only?.path === 'store.s3') continue;
    const look = async () => {
      if (fault !== undefined) throw fault;
      return 'of two writers at one key, one wins';
    };
    found.push(await diagnose(`store-${contentStore ?? name}`, false, look));
  }
  return found;
}

/** Codes that mean missing rather than broken. */
const missingCodes: readonly string[] = [
  'GIT_MISSING',
  'NOT_A_REPOSITORY',
  'SANDBOX_UNAVAILABLE',
  'TRACER_UNAVAILABLE',
  'PROVIDER_KEY_MISSING',
  'PROVIDER_FAILED',
];

async function diagnose(id: string, needed: boolean, look: () => Promise<string>): Promise<Diagnosis> {
  try {
    return { id, needed, status: 'ok', detail: await look() };
  } catch (fault) {
    const code = isWritError(fault) ? fault.code : undefined;
    const missing = code !== undefined && missingCodes.includes(code);
    const detail = missing || code === undefined ? messageOf(fault) : `${code}: ${messageOf(fault)}`;
    return { id, needed, status: missing ? 'missing' : 'failed', detail };
  }
}

async function gitVersion({ env, cwd }: CommandContext): Promise<string> {
  try {
    const answer = await execFileBounded(['git', '--version'], {
      cwd,
      env: { PATH: env.PATH ?? '' },
      maxBytes: 4096,
    });
    return answer.stdout.toString('utf8').trim();
  } catch (cause) {
    throw new WritError('GIT_MISSING', { cause });
  }
}
