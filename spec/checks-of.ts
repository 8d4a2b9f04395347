/* Lists the checks of a spec and the stages of its artifacts, and the moves of its lifecycle. */
import { domainToASCII } from 'node:url';
import { WritError } from '../core/base/errors.ts';
import type {
  ArtifactStage,
  Check,
  EffectiveIntentSpec,
  IntentSpec,
  LifecycleStatus,
  VerificationPlan,
} from '../core/interfaces/intentspec.gen.ts';
import { type StageName, stageNames } from '../core/interfaces/stage.ts';
import type { Partly } from './facts.ts';

/** The four lists in the order in which their stages run. */
export const checkLists = [
  'fastChecks',
  'integrationChecks',
  'securityChecks',
  'releaseChecks',
] as const satisfies readonly (keyof VerificationPlan)[];
export type CheckList = (typeof checkLists)[number];

export interface ListedCheck {
  readonly list: CheckList;
  readonly path: string;
  readonly check: Partly<Check>;
}

/** Every check that a document lists, with its pointer; what is missing or of the wrong type is left out. */
export function checksOf(
  spec: Partly<IntentSpec>,
  lists: readonly CheckList[] = checkLists,
): readonly ListedCheck[] {
  const plan = spec.acceptance?.verificationPlan;
  return lists.flatMap((list) =>
    (plan?.[list] ?? []).flatMap((check, index) =>
      check ? [{ list, path: `/acceptance/verificationPlan/${list}/${index}`, check }] : [],
    ),
  );
}

/** Maps an artifact's stage (`required[].stage`) to its gate stage. */
export const gateOf: Readonly<Record<ArtifactStage, StageName>> = {
  'per-task': 'fast',
  integration: 'integration',
  security: 'security',
  release: 'release',
};

type Required = Pick<EffectiveIntentSpec['artifacts']['required'][number], 'name' | 'stage'>;

/**
 * The gate stage at which an artifact must exist: the stage that the spec names. If the check that produces it runs
 * only later, that later stage applies, because the artifact cannot exist before.
 */
export function lookedForAt(spec: EffectiveIntentSpec, required: Required): StageName {
  const named = gateOf[required.stage];
  const made = producedAt(spec, required);
  return made !== undefined && stageNames.indexOf(made) > stageNames.indexOf(named) ? made : named;
}

/**
 * Returns the first stage with a command or suite that declares the artifact.
 *
 * A `test-log` that no check declares is the output of all checks. Its stage is the one that the spec names, else the
 * next stage with a command, else the last one before.
 *
 * `undefined`: only the engine can produce it.
 */
export function producedAt(spec: EffectiveIntentSpec, { name, stage }: Required): StageName | undefined {
  const plan = spec.acceptance.verificationPlan;
  const running = stageNames.map((at) => plan[`${at}Checks`].filter(({ kind }) => kind !== 'policy'));
  const claimed = running.findIndex((checks) =>
    checks.some(({ artifactsProduced }) => artifactsProduced.includes(name)),
  );
  if (claimed >= 0) return stageNames[claimed];
  if (name !== 'test-log') return undefined;
  const ranAt = stageNames.filter((_, index) => (running[index]?.length ?? 0) > 0);
  const named = stageNames.indexOf(gateOf[stage]);
  return ranAt.find((at) => stageNames.indexOf(at) >= named) ?? ranAt.at(-1);
}

/** Every constraint key that a ToolRule may have. */
const toolConstraintKeys = [
  'writeRoots',
  'denyPaths',
  'allowCommands',
  'denySubstrings',
  'maxOutputBytes',
  'maxWriteBytes',
  'maxResultBytes',
  'networkReason',
  'networkHosts',
] as const;
export type ToolConstraintKey = (typeof toolConstraintKeys)[number];

/** Narrows to a known key; own names of the list only, so `constructor` is unknown. */
export function isToolConstraintKey(key: string): key is ToolConstraintKey {
  return (toolConstraintKeys as readonly string[]).includes(key);
}

/** Allowed transitions of each status. `deprecated` and `closed` are final. */
export const lifecycleMoves: Readonly<Record<LifecycleStatus, readonly LifecycleStatus[]>> = {
  draft: ['active', 'closed'],
  active: ['deprecated', 'closed'],
  deprecated: [],
  closed: [],
};

/** Refuses an illegal move with `LIFECYCLE_ILLEGAL_TRANSITION` and `detail {from, to}`. */
export function assertLifecycleMove(from: LifecycleStatus, to: LifecycleStatus): void {
  if (lifecycleMoves[from].includes(to)) return;
  const allowed = lifecycleMoves[from].map((status) => `\`${status}\``).join(' or ') || 'nothing';
  throw new WritError('LIFECYCLE_ILLEGAL_TRANSITION', {
    message: `expected \`${from}\` to go to ${allowed}, found \`${to}\``,
    detail: { from, to },
  });
}

/** True for the versions that this engine plans and runs: `v1alpha1` of any domain. Form is the schema's business. */
export function supportedApiVersion(apiVersion: string): boolean {
  return apiVersion.endsWith('/v1alpha1');
}

/** INTENTSPEC_UNSUPPORTED_VERSION for any other. */
export function requireSupportedVersion(apiVersion: string): void {
  if (supportedApiVersion(apiVersion)) return;
  throw new WritError('INTENTSPEC_UNSUPPORTED_VERSION', {
    message: `expected an \`apiVersion\` that ends in \`/v1alpha1\`, found \`${apiVersion}\``,
    detail: { expected: 'v1alpha1', found: apiVersion },
  });
}

/** An entry of `networkHosts` in normal form. */
interface NetworkHost {
  /** Lower-case ASCII, `*.` before it for every name below a domain; an IP literal without brackets. */
  readonly pattern: string;
  /** Absent: 80 and 443. */
  readonly port?: number;
}

/**
 * Parses `<domain pattern>[:port]`; an IPv6 literal with a port is in brackets. Returns `undefined` for anything
 * else.
 */
export function readNetworkHost(entry: string): NetworkHost | undefined {
  const [, bracketed, named, digits] = /^(?:(\[[^\]]*\])|([^:]*)):(\d{1,5})$/.exec(entry) ?? [];
  const pattern = bracketed ?? named ?? entry;
  if (!isDomainPattern(pattern)) return undefined;
  const port = digits === undefined ? undefined : Number(digits);
  if (port !== undefined && (port < 1 || port > 65_535 || String(port) !== digits)) return undefined;
  return { pattern: normal(pattern), ...(port === undefined ? {} : { port }) };
}

function normal(pattern: string): string {
  if (pattern.startsWith('*.')) return `*.${domainToASCII(pattern.slice(2))}`;
  const bare = pattern.replace(/^\[|\]$/g, '');
  return bare.includes(':') ? new URL(`http://[${bare}]/`).hostname.slice(1, -1) : domainToASCII(bare);
}

const label = /^[a-z0-9_](?:[a-z0-9_-]{0,61}[a-z0-9_])?$/;

/** A host name (IDN allowed), `*.` before one, or an IP literal; no scheme, port, path or user. */
export function isDomainPattern(pattern: string): boolean {
  const bare = pattern.startsWith('[') && pattern.endsWith(']') ? pattern.slice(1, -1) : pattern;
  if (isIpv6(bare)) return true;
  if (isIpv4(bare)) return bare === pattern;
  const host = pattern.startsWith('*.') ? pattern.slice(2) : pattern;
  if (isIpv4(host) || /[\s/?#@:*%[\]\\]/.test(host)) return false;
  const ascii = domainToASCII(host);
  // `127.1` and the like: an address in another spelling.
  if (isIpv4(ascii)) return false;
  return ascii.length > 0 && ascii.length <= 253 && ascii.split('.').every((part) => label.test(part));
}

/** `node:net` knows this too, and costs a short command a tenth of its time to load. */
function isIpv4(text: string): boolean {
  return (
    /^\d{1,3}(?:\.\d{1,3}){3}$/.test(text) &&
    text.split('.').every((part) => part === String(Number(part)) && Number(part) < 256)
  );
}

function isIpv6(text: string): boolean {
  return /^[0-9a-f:.]*:[0-9a-f:.]*$/i.test(text) && URL.canParse(`http://[${text}]/`);
}

/** What each constraint of a ToolRule has to be. */
export const toolConstraintShapes: Readonly<
  Record<ToolConstraintKey, { readonly expected: string; readonly holds: (value: unknown) => boolean }>
> = {
  writeRoots: { expected: 'a list of paths', holds: isTextList },
  denyPaths: { expected: 'a list of paths', holds: isTextList },
  allowCommands: { expected: 'a list of word sequences', holds: isTextList },
  denySubstrings: { expected: 'a list of strings', holds: isTextList },
  maxOutputBytes: { expected: 'a number of bytes', holds: isByteCount },
  maxWriteBytes: { expected: 'a number of bytes', holds: isByteCount },
  maxResultBytes: { expected: 'a number of bytes', holds: isByteCount },
  networkReason: {
    expected: 'a reason in words',
    holds: (value) => typeof value === 'string' && value.trim() !== '',
  },
  networkHosts: {
    expected: 'a list of domain patterns, each with an optional port',
    holds: (value) => isTextList(value) && value.every((host) => readNetworkHost(host) !== undefined),
  },
};

function isTextList(value: unknown): value is readonly string[] {
  return Array.isArray(value) && value.every((item) => typeof item === 'string' && item.trim() !== '');
}

function isByteCount(value: unknown): boolean {
  return Number.isSafeInteger(value) && Number(value) >= 0;
}
