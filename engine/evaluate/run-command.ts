/* Runs the command of a check in the sandbox. */
import { statSync } from 'node:fs';
import { setImmediate } from 'node:timers';
import { toRfc3339 } from '../../core/base/clock.ts';
import { WritError } from '../../core/base/errors.ts';
import type { CheckContext } from '../../core/interfaces/check.ts';
import type { ToolRequest, ToolSettled } from '../../core/interfaces/hook-payload.ts';
import type { EffectiveCheck, EffectiveToolAcl } from '../../core/interfaces/intentspec.gen.ts';
import type { SandboxRequest } from '../../core/interfaces/sandbox.ts';
import type { CheckNetwork } from '../../core/interfaces/scanner.ts';
import type { RanOn, StageName, ToolUse } from '../../core/interfaces/stage.ts';
import { guardCommand, mayBeProgram, programsIn } from '../../workspace/command-acl/acl.ts';
import { openNetwork } from '../../workspace/egress/command-network.ts';
import { withoutNetwork } from '../../workspace/egress/open-egress.ts';
import { checkEnvironment, limitedShell, maxMemoryBytes } from '../../workspace/process/find-program.ts';
import { hookCheckId, messageVariable } from '../state/checks.ts';
import { sealerOf, wordsToSeal } from '../state/commit-wording.ts';
import { describeEngine } from '../state/machine.ts';
import type { Attempt } from '../state/open-run.ts';
import type { Passing } from './check-workspace.ts';
import { isMandatory } from './evaluate-rules.ts';
import { goOn } from './machine-failure.ts';
import type { TracedCommand } from './observe/under-tracer.ts';
import type { OpenWorkspace } from './open-workspace.ts';
import { readReports } from './read-reports.ts';
import type { WaysHere } from './reuse-verdicts.ts';
import type { RanCommand } from './run-on-workers.ts';
import { allWritten } from './written-outside.ts';

/** Bytes kept of each output stream where no tool rule sets `maxOutputBytes`. */
const defaultMaxOutputBytes = 1024 * 1024;

const allowAll: EffectiveToolAcl = {
  allow: [{ tool: 'workspace.command', actions: ['execute'], constraints: {} }],
  deny: [],
};

/** Resources that a check used, recorded by the code that provided them. */
export interface CheckUses extends Passing {
  readonly networks: CheckNetwork[];
  readonly tools: ToolUse[];
  /** Where its command ran last. */
  ranOn?: RanOn;
}

interface CommandOfCheck {
  readonly stage: StageName;
  readonly check: EffectiveCheck;
  readonly secrets: Readonly<Record<string, string>>;
  readonly traced?: TracedCommand;
  /** Of a scanner, as of a sandbox request: further binds and tools; it has no network. */
  readonly binds?: SandboxRequest['binds'];
  readonly tools?: SandboxRequest['tools'];
}

/**
 * Runs a check's command in the sandbox with its secrets, if the spec's tool rules and every tap allow it. A refusal
 * is a return value.
 */
export async function runCommand(
  attempt: Attempt,
  workspace: OpenWorkspace,
  { stage, check, secrets, traced, binds, tools }: CommandOfCheck,
  uses: CheckUses,
): ReturnType<CheckContext['runCommand']> {
  const {
    identity: { contract, runId },
    services: { signal },
  } = attempt;
  const { clock } = attempt.services.settings;
  const command = check.command ?? '';
  const { reports, skipped } = workspace;
  const inside = workspace.sandbox.pathsInside({ workspace: workspace.directory, reports });
  const own = {
    ...checkEnvironment({
      intentSpecId: contract.effective.metadata.id,
      intentSpecDigest: contract.digest,
      runId,
      workspace: inside.workspace,
      baseSha: attempt.patch.baseCommit ?? '',
      patchSetDigest: attempt.patch.digest,
      reportsDir: inside.reports,
    }),
    ...(check.id === hookCheckId('commit-msg') && isMandatory(attempt, check)
      ? { [messageVariable]: await messageToSeal(attempt) }
      : {}),
  };
  const env = { ...secrets, ...own };
  const purpose = traced === undefined ? purposeOf(attempt.patch, workspace.tree) : 'footprint';
  const tool: ToolRequest = {
    ...{ runId, tool: 'workspace.command', action: 'execute', checkId: check.id, command },
    ...(purpose === undefined ? {} : { purpose }),
  };
  const startedAt = toRfc3339(clock.now());
  const started = clock.monotonic();
  const settle = async (settled: Omit<ToolSettled, 'request' | 'durationMs'>): Promise<void> => {
    const durationMs = Math.round(clock.monotonic() - started);
    const { outcome, refusal, exitCode } = settled;
    uses.tools.push({
      tool: tool.tool,
      action: tool.action,
      command,
      outcome,
      ...(refusal === undefined ? {} : { refusal: refusal.rule }),
      ...(exitCode === undefined ? {} : { exitCode }),
      durationMs,
      startedAt,
    });
    await attempt.services.engine.hooks.tool.settled.call({ request: tool, ...settled, durationMs });
  };
  // What the repository demands of every change is allowed by the policy commit itself; the sandbox confines it all the
  // same.
  const toolAcl = isMandatory(attempt, check) ? allowAll : contract.effective.security.toolAcl;
  const guard = (isProgram: (path: string) => boolean) =>
    guardCommand(toolAcl, command, { variables: Object.keys(env), isProgram });
  const acl = guard(programsIn(workspace.provided));
  // A command that no rule allows is refused for that, wherever its program is.
  const forbidden = acl.refusal && guard(mayBeProgram).refusal;
  if (acl.refusal && !forbidden && skipped.length > 0) throw shareMissing(check.id, skipped);
  const denied = forbidden ?? acl.refusal ?? (await attempt.services.engine.hooks.tool.guard.call(tool));
  if (denied) {
    await settle({ outcome: 'denied', refusal: denied });
    return { denied, reports: [] };
  }
  await attempt.services.engine.hooks.tool.started.call(tool);
  const isScanner = binds !== undefined;
  const way = await openNetwork(attempt, workspace, isScanner ? { isShut: true } : acl);
  await attempt.services.steps.sync();
  const before = { ...traced?.env, ...(way.network === 'none' ? withoutNetwork : {}) };
  const request = {
    argv: limitedShell(command, acl.maxWriteBytes),
    env: { ...before, ...env },
    network: way.network,
    timeoutMs: check.timeoutSeconds * 1000,
    maxOutputBytes: acl.maxOutputBytes ?? defaultMaxOutputBytes,
  };
  const runIn = async (
    { directory, reports: to, sandbox, binds: shown }: OpenWorkspace,
    changes: Partial<SandboxRequest> = {},
  ): Promise<RanCommand> => {
    const { mtimeNs: emptySince } = statSync(to, { bigint: true });
    const result = await sandbox.run({
      ...request,
      workspace: directory,
      reports: to,
      binds: [...shown, ...(binds ?? []), ...(traced?.binds ?? [])],
      ...(tools === undefined ? {} : { tools }),
      maxMemoryBytes: maxMemoryBytes(attempt.environment.config),
      signal,
      ...(traced === undefined ? {} : { traceTo: traced.traceTo }),
      ...changes,
    });
    return { result, ...readReports(to, emptySince) };
  };
  const ways: WaysHere = {
    run: () => runIn(workspace),
    async inFresh(act) {
      const fresh = await workspace.again();
      try {
        const { directory, reports: to } = fresh;
        return await act({
          root: fresh.sandbox.pathsInside({ workspace: directory, reports: to }).workspace,
          run: (changes) => runIn(fresh, changes),
          written: async () => allWritten(await fresh.place(), await fresh.changed()),
        });
      } finally {
        await fresh.close();
      }
    },
  };
  const running = uses.watch.running(async (): Promise<RanCommand> => {
    const ran = await workspace.elsewhere?.run(
      {
        ...{ stage, check, content: workspace.content, secrets },
        request: { ...request, env: { ...before, ...own } },
        bound: boundHere(attempt, { check, secrets, isScanner, isTraced: traced !== undefined }),
      },
      ways,
    );
    if (ran !== undefined) uses.ranOn = ran.ranOn;
    uses.elsewhere = ran?.written;
    return ran ?? ways.run();
  });
  // The seal needs it: the modules of this program are hashed once, while a command runs. A fault is the seal's to say.
  setImmediate(() => describeEngine(attempt.services.settings.schedulerVersion).catch(() => undefined));
  const { result, ...read } = await running.finally(async () => {
    const had = await way.close();
    if (had) uses.networks.push(had);
  });
  const failed =
    result.timedOut || result.aborted || result.exceeded !== undefined || read.findings.length > 0;
  await settle({
    outcome: failed ? 'failed' : 'done',
    ...(result.exitCode === undefined ? {} : { exitCode: result.exitCode }),
  });
  const [tooMuch] = read.findings;
  return {
    ...(tooMuch ? { denied: tooMuch } : {}),
    result,
    reports: read.files,
    unread: read.unread,
    skipped,
  };
}

function purposeOf({ baseTree, candidateTree }: Attempt['patch'], tree: string): ToolRequest['purpose'] {
  if (tree === candidateTree) return undefined;
  return tree === baseTree ? 'base' : 'second';
}

/** Why this command must run on this machine. */
function boundHere(
  { environment, identity: { contract } }: Attempt,
  {
    check: { id },
    secrets,
    isScanner,
    isTraced,
  }: Pick<CommandOfCheck, 'check' | 'secrets'> & { readonly isScanner: boolean; readonly isTraced: boolean },
): string | undefined {
  if (isTraced) return 'it is traced';
  if (isScanner) return 'it is a scanner';
  if (Object.keys(secrets).length > 0) {
    if (environment.config.workers?.secrets === undefined) return 'it is given secrets';
    if (contract.effective.security.secrets.policy === 'allow-scoped')
      return 'its secrets may change something, and workers may run a job twice';
  }
  return id === hookCheckId('commit-msg') || id === hookCheckId('pre-commit')
    ? 'it is a hook of git'
    : undefined;
}

async function messageToSeal({ identity, environment }: Attempt): Promise<string> {
  const sealer = await sealerOf(environment.repository, identity.contract.effective);
  return wordsToSeal(identity, sealer).message;
}

/** A program is in a directory that was not shared: this decides nothing, also if the change edits the lockfile. */
function shareMissing(checkId: string, skipped: readonly string[]): WritError {
  return new WritError('WORKSPACE_DEPENDENCIES_MISSING', {
    message: `check \`${checkId}\` starts a program of a directory that it does not see: ${skipped.join('; ')}`,
    detail: { check: checkId },
    hints: [`correct that in the working tree, then ${goOn}`],
  });
}
