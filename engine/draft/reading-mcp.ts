/* Opens the MCP servers of a talk: their programs see a copy of the base commit, or nothing of it. */
import { type McpAccess, type OpenMcp, openMcp } from '../../agent/mcp/mcp-tools.ts';
import type { ToolSetting } from '../../agent/tool-calls/tool-entry.ts';
import { redactTexts } from '../../readers/sensitive/redact.ts';
import type { WritEngine } from '../../spec/contract-rows.ts';
import { hideRepository } from '../../workspace/git/hide-repository.ts';
import { readBlob } from '../../workspace/git/read-objects.ts';
import { pickSandbox } from '../../workspace/process/version-control.ts';
import { sessionPolicyOf } from '../config/read-session-policy.ts';
import { mcpRefusal } from '../config/session-policy.ts';
import { findDependencies } from '../evaluate/find-dependencies.ts';
import type { RunSettings } from '../state/run-request.ts';
import { exportBase, type Reading } from './reading-agent.ts';

interface TalkRequest
  extends Pick<RunSettings, 'clock' | 'signal' | 'mcp' | 'outside' | 'secrets' | 'witness'> {
  readonly runId: string;
  /** Back end by name, or `auto`. */
  readonly sandbox: string;
  /** Whether servers with a network are started. */
  readonly networkPolicy: 'allow' | 'deny';
  /** Prompts the person: a talk has no spec whose rules could allow a tool. */
  readonly consent: NonNullable<ToolSetting['consent']>;
}

/** Opens the servers of the policy commit and of the user; none for a model that is a program of its own. */
export async function openTalkMcp(
  engine: WritEngine,
  { environment, effective, policy, model, agent }: Reading,
  request: TalkRequest,
): Promise<OpenMcp | undefined> {
  const { repository, base, config } = environment;
  const { clock, signal, mcp, outside, secrets, witness, networkPolicy, runId } = request;
  const own = (await mcp?.servers()) ?? [];
  if (agent !== undefined || config.mcp.size + own.length === 0) return undefined;
  const access: McpAccess = { ...mcp, servers: async () => own };
  await using opened = new AsyncDisposableStack();
  const sandbox = hideRepository(await pickSandbox(request.sandbox, engine.slots.sandbox), repository);
  const { root, place } = await exportBase(environment, clock, opened);
  const run = { environment: { sandbox, config, repository }, services: { signal } };
  const settings = { ...(outside && { outside }), ...(witness && { witness }) };
  const read = (path: string) => readBlob(repository, base.tree, path);
  let provided: ReturnType<typeof findDependencies> | undefined;
  const servers = opened.use(
    await openMcp({
      run,
      place,
      privateRoot: root,
      repositoryRoot: repository.root,
      async provided() {
        provided ??= findDependencies(
          { ...run, services: { signal, settings } },
          place.workspace,
          read,
          read,
        );
        return (await provided).provided;
      },
      runId,
      effective: {
        security: effective.security,
        constraints: {
          ...effective.constraints,
          security: { ...effective.constraints.security, networkPolicy },
        },
        evidence: { ...effective.evidence, trustTiers: [...effective.evidence.trustTiers, 'web'] },
      },
      isTalk: true,
      policy,
      servers: config.mcp,
      refusal: (name) => mcpRefusal(sessionPolicyOf(config), name),
      access,
      secret: async (name) => secrets?.named?.(name),
      secrets: model.secrets,
      tools: {
        engine,
        nowMs: () => clock.now(),
        mask: (text) => redactTexts(text, policy),
        signal,
        consent: request.consent,
      },
      ...(outside === undefined ? {} : { outside }),
    }),
  );
  const held = opened.move();
  return { ...servers, [Symbol.asyncDispose]: () => held.disposeAsync() };
}
