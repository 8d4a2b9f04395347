/** Approvals and questions of the runs of a turn. */
import { realpath } from 'node:fs/promises';
import { compact } from '../../api/envelope.ts';
import type { ToolRequest } from '../../core/interfaces/hook-payload.ts';
import type { LookAtChange, Person } from '../../core/interfaces/person.ts';
import { readIntentSpec } from '../../spec/read-intent-spec.ts';
import { refusal } from '../../workspace/command-acl/constraints.ts';
import { openRepository } from '../../workspace/git/repository.ts';
import { readHead } from '../../workspace/git/resolve-commit.ts';
import { pickSandbox } from '../../workspace/process/version-control.ts';
import { describeApproval } from '../approvals/describe-approval.ts';
import { type GrantLedger, grantFrom } from '../approvals/grants.ts';
import { decideApproval } from '../approvals/judge-approval.ts';
import { type SandboxPolicy, sandboxDigest, type ToolUse } from '../approvals/tool-use.ts';
import type { Answered, TurnScope, WorkSetting } from './turn-scope.ts';

/** Where the tools of one run work, as an approval is bound to it. */
export interface ConsentGround extends Pick<ToolUse, 'cwd' | 'sandbox' | 'branch' | 'argv'> {
  /** Name of the sandbox back end that confines commands. Absent if none does. */
  readonly backend?: string;
  /** What the sandbox kept a command of the same text from, when it was tried before. */
  readonly heldBack: (command: string) => string | undefined;
  /** The user runs the command: the policy can refuse it, but there is no question. */
  readonly isOwnWord?: boolean;
}

type Consented = 'go' | 'abort' | { readonly refused: string };

/** Authorizes one call by policy and earlier answers, or prompts. The answer is kept for later calls. */
export async function authorizeCall(
  {
    setting: { approval },
    ask,
    newId,
  }: Pick<TurnScope, 'ask' | 'newId'> & { readonly setting: Pick<WorkSetting, 'approval'> },
  request: ToolRequest,
  { backend, heldBack, isOwnWord = false, ...ground }: ConsentGround,
  lookAtChange?: LookAtChange,
): Promise<Consented> {
  const { policy, ttlSeconds, grants, mask } = approval;
  const use: ToolUse = { id: newId(), request, ...ground, isOutside: false };
  const held = request.command === undefined ? undefined : heldBack(request.command);
  const verdict = decideApproval(policy, use, {
    ...compact({ sandbox: backend, heldBack: held }),
    // The network of a run is what a person chose at the review of its plan.
    leavesMachine: false,
  });
  if (verdict.verdict === 'go') return 'go';
  if (verdict.verdict === 'refuse') return { refused: verdict.why };
  if (isOwnWord) return 'go';
  const before = verdict.isFresh ? undefined : grants.take(use);
  if (before !== undefined)
    return before.verdict === 'go' ? 'go' : { refused: 'the person declined every call like it' };
  const change = await lookAtChange?.();
  const question = describeApproval(use, {
    why: verdict.why,
    isOfSandbox: verdict.isOfSandbox,
    isUnconfined: request.command !== undefined && backend === undefined,
    ttlSeconds,
    mask,
    ...(change === undefined ? {} : { change }),
  });
  const answered = await ask({ subject: `consent ${use.id}`, ...question });
  const { option, given, by } = answered;
  const { applyToFuture = 'no' } = given;
  grants.add(
    grantFrom({ option, ...(applyToFuture === 'no' ? {} : { applyToFuture }) }, use, {
      now: grants.now(),
      ttlSeconds,
      by,
      newId,
      mask,
    }),
  );
  return consented(answered, use, grants);
}

function consented({ option }: Answered, use: ToolUse, grants: GrantLedger): Consented {
  if (option === 'abort') return 'abort';
  // No answer but a consent grants anything, and what it grants has to cover this very call.
  if (grants.take(use)?.verdict === 'go') return 'go';
  return { refused: 'the person did not approve it' };
}

/** Network access of a run's commands: every public host, or the hosts that rules of its spec name. */
interface OpenedNetwork extends Pick<SandboxPolicy, 'hosts'> {
  readonly networkAccess: 'allow' | 'deny';
}

/**
 * What approvals of a run's calls are bound to. Each attempt has its own directory; approvals use the repository's
 * root, which the user knows.
 */
export async function consentGround(
  { engine, repositoryPath, sandbox }: WorkSetting,
  { networkAccess, hosts }: OpenedNetwork,
  heldBack: ConsentGround['heldBack'],
): Promise<ConsentGround> {
  const repository = await openRepository(repositoryPath, { onlyReads: true });
  const cwd = await realpath(repository.root);
  const { branch, commit } = await readHead(repository);
  const backend = await pickSandbox(sandbox, engine.slots.sandbox);
  return {
    cwd,
    branch: branch ?? commit ?? 'HEAD',
    sandbox: sandboxDigest({ backend: backend.name, network: networkAccess, hosts, writes: [cwd] }),
    ...(backend.unconfined ? {} : { backend: backend.name }),
    heldBack,
  };
}

export const noNetwork: OpenedNetwork = { networkAccess: 'deny', hosts: [] };

/** Network access that a spec opens to commands. None if the spec is unreadable. */
export function openedNetwork(specBytes: Uint8Array): OpenedNetwork {
  const read = readIntentSpec(specBytes);
  if (!read.ok) return noNetwork;
  const { constraints, security } = read.effective;
  return {
    networkAccess: constraints.security.networkPolicy === 'allow' ? 'allow' : 'deny',
    hosts: security.toolAcl.allow.flatMap((rule) => hostsIn(rule.constraints.networkHosts)),
  };
}

function hostsIn(value: unknown): readonly string[] {
  return Array.isArray(value) ? value.map(String) : [];
}

/** Lets the runs of a turn prompt the controller of the session. */
export function personOf(scope: TurnScope, ground: ConsentGround): Person {
  const { ask, newId, stop } = scope;
  return {
    async consent(use, signal, change) {
      signal.throwIfAborted();
      const said = await authorizeCall(scope, use, ground, change);
      if (said === 'go') return undefined;
      if (said !== 'abort') return refusal(said.refused, { reason: 'not-approved' });
      stop();
      throw signal.reason;
    },
    async answer({ question, options, isSecret }) {
      const kind = options.length === 0 ? ('text' as const) : ('single' as const);
      const listed = options.map((label, at) => ({ id: `${at + 1}`, label }));
      const secret = isSecret === true ? { secret: true } : {};
      const asked = { id: 'answer', prompt: question, kind, options: listed, ...secret };
      const { given } = await ask({
        subject: `question ${newId()}`,
        kind: 'request_user_input',
        prompt: question,
        metadata: { questions: [asked] },
      });
      const [said] = given.answers?.answer ?? [];
      // Masked before the next reply of a model could repeat it.
      if (isSecret && said !== undefined) scope.setting.hide?.(said);
      return listed.find(({ id }) => id === said)?.label ?? said;
    },
  };
}
