import { mkdir, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { isWritError, WritError } from '../../../core/base/errors.ts';
import { error } from '../../../core/contract/issue.ts';
import type { SandboxBackend, SandboxBind, SandboxResult } from '../../../core/contract/sandbox.ts';
import { type RuntimeDemand, readLanguageRuntime } from '../../spec/language-runtime.ts';
import { findVersion, meets, type Version } from '../../spec/runtime-version.ts';

export interface RuntimePlace {
  /** What the checks will see besides the workspace. */
  readonly binds?: readonly SandboxBind[];
  readonly signal?: AbortSignal;
  /** For each tool; default 20 seconds. */
  readonly timeoutMs?: number;
}

/** Name of a tool as the contract calls it → its version: what a Run's `environment` pins. */
export type RuntimeVersions = Readonly<Record<string, string>>;

const path = '/constraints/platform/languageRuntime';
const maxOutputBytes = 16 * 1024;

/**
 * Asks the tools that the sandbox shows for their versions. A tool that is missing, says no version, or not one that
 * the contract demands is RUNTIME_MISMATCH with `expected` and `found`; a text that cannot be read is
 * INTENTSPEC_INVALID. Blank text asks nothing.
 */
export async function checkRuntime(
  sandbox: SandboxBackend,
  text: string,
  place: RuntimePlace = {},
): Promise<RuntimeVersions> {
  const demands = requireDemands(text);
  const versions: Record<string, string> = {};
  if (demands.length === 0) return versions;
  const root = await mkdtemp(join(tmpdir(), 'writ-runtime-'));
  try {
    const [workspace, reports] = [join(root, 'workspace'), join(root, 'reports')];
    await mkdir(workspace);
    await mkdir(reports);
    const asked = new Map<RuntimeDemand['tool'], Version | undefined>();
    for (const demand of demands) {
      if (!asked.has(demand.tool)) {
        asked.set(demand.tool, await askTool(sandbox, demand, { ...place, workspace, reports }));
      }
      const found = asked.get(demand.tool);
      if (!found || !meets(found, demand.operator, demand.version)) throw mismatch(demand, found, sandbox);
      versions[demand.name] = found.text;
    }
    return versions;
  } finally {
    await rm(root, { recursive: true, force: true });
  }
}

function requireDemands(text: string): readonly RuntimeDemand[] {
  const demands = readLanguageRuntime(text);
  if (!('message' in demands)) return demands;
  const issue = error('SEMANTIC_LANGUAGE_RUNTIME', path, demands.message);
  throw new WritError('INTENTSPEC_INVALID', {
    message: `\`${path}\`: ${demands.message}`,
    detail: { issues: [issue] },
  });
}

async function askTool(
  sandbox: SandboxBackend,
  { tool }: RuntimeDemand,
  place: RuntimePlace & { readonly workspace: string; readonly reports: string },
): Promise<Version | undefined> {
  for (const argv of tool.commands) {
    const result = await runTool(sandbox, argv, place);
    place.signal?.throwIfAborted();
    if (result?.exitCode !== 0) continue;
    const output = result.combined.bytes.toString('utf8');
    const start = tool.after === undefined ? 0 : output.indexOf(tool.after);
    if (start < 0) continue;
    const version = findVersion(output.slice(start + (tool.after?.length ?? 0)));
    if (version) return tool.dropsLeadingOne ? withoutLeadingOne(version) : version;
  }
  return undefined;
}

/** `undefined` where the program is not there. */
async function runTool(
  sandbox: SandboxBackend,
  argv: readonly string[],
  place: RuntimePlace & { readonly workspace: string; readonly reports: string },
): Promise<SandboxResult | undefined> {
  try {
    return await sandbox.run({
      argv,
      workspace: place.workspace,
      reports: place.reports,
      binds: place.binds ?? [],
      env: { CI: 'true' },
      network: sandbox.unconfined ? 'host' : 'none',
      timeoutMs: place.timeoutMs ?? 20_000,
      maxOutputBytes,
      ...(place.signal === undefined ? {} : { signal: place.signal }),
    });
  } catch (fault) {
    if (isWritError(fault, 'SPAWN_FAILED')) return undefined;
    throw fault;
  }
}

function withoutLeadingOne(version: Version): Version {
  const [first, ...rest] = version.numbers;
  return first === 1 && rest.length > 0 ? { ...version, numbers: rest } : version;
}

function mismatch(demand: RuntimeDemand, found: Version | undefined, sandbox: SandboxBackend): WritError {
  return new WritError('RUNTIME_MISMATCH', {
    message: `expected \`${demand.text}\` in the sandbox \`${sandbox.name}\`, found ${found === undefined ? `no working \`${demand.name}\`` : `\`${found.text}\``}`,
    detail: { tool: demand.name, expected: demand.text, found: found?.text ?? null, sandbox: sandbox.name },
  });
}
