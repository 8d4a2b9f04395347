/** The questions that each policy engine answers about a change, with the facts that a policy may use. */
import type { Finding, PatchFile, PolicyText, RuleFunction, RuleInput } from '../../plugin.ts';

/** One question: may this user commit the change, or change this file? */
export interface PolicyQuestion {
  readonly action: 'commit' | 'change';
  /** `metadata.createdBy` of the spec. */
  readonly user: { readonly id: string; readonly kind: string };
  /** Digest of the patch. */
  readonly digest: string;
  readonly change: ChangeFacts;
  /** Present if the action is `change`. */
  readonly file?: FileFacts;
  readonly context: ContextFacts;
}

interface ChangeFacts {
  readonly changeType: string;
  readonly risk: string;
  readonly files: number;
  readonly binaryFiles: number;
  readonly linesAdded: number;
  readonly linesDeleted: number;
  readonly paths: readonly string[];
  readonly directories: readonly string[];
  readonly extensions: readonly string[];
  readonly artifacts: readonly string[];
}

interface FileFacts {
  readonly path: string;
  readonly oldPath?: string;
  readonly directory: string;
  readonly directories: readonly string[];
  readonly extension: string;
  readonly changeType: string;
  readonly binary: boolean;
  readonly executable: boolean;
  readonly linesAdded: number;
  readonly linesDeleted: number;
}

/** Results of the earlier checks of this stage, and the approvals that count. */
interface ContextFacts {
  readonly stage: string;
  readonly checks: Readonly<Record<'passed' | 'failed' | 'waiting', readonly string[]>>;
  readonly findings: {
    readonly rules: readonly string[];
    readonly errors: number;
    readonly warnings: number;
    readonly notes: number;
  };
  readonly approvals: {
    readonly approvers: readonly string[];
    readonly rejecters: readonly string[];
    readonly groups: readonly string[];
    readonly roles: readonly string[];
    readonly count: number;
  };
}

/**
 * Builds `commit` for the change, then `change` for each file. A renamed file also gives a question about the
 * deletion of its old path.
 */
function toQuestions(input: RuleInput): readonly PolicyQuestion[] {
  const { patch, spec } = input;
  const { type: kind, id } = spec.metadata.createdBy;
  const common = {
    user: { id, kind },
    digest: patch.digest,
    change: toChange(input),
    context: toContext(input),
  };
  return [
    { ...common, action: 'commit' },
    ...patch.files.flatMap(sidesOf).map((file) => ({
      ...common,
      action: 'change' as const,
      file: toFile(file),
    })),
  ];
}

/** A finding of a policy engine, with a code in `detail`. */
export function policyFinding(
  engine: string,
  code: 'POLICY_INVALID' | 'POLICY_FAULT' | 'POLICY_DENIED',
  message: string,
  detail: Readonly<Record<string, unknown>> & { readonly path?: string },
): Finding {
  const { path, ...more } = detail;
  return {
    rule: engine,
    severity: 'error',
    message: message.slice(0, maxMessage),
    detail: { code, ...more },
    ...(path === undefined ? {} : { path }),
  };
}

/** The rule of an engine. A missing policy is a finding, because there would be no evaluation. */
export function policyRule(
  engine: string,
  evaluate: (policy: PolicyText, input: RuleInput) => Promise<readonly Finding[]>,
): RuleFunction {
  return async (input) =>
    input.policy
      ? evaluate(input.policy, input)
      : [policyFinding(engine, 'POLICY_INVALID', 'expected a policy, found none', {})];
}

const maxMessage = 2000;
const maxFindings = 500;

/** Evaluates all questions until 500 findings are listed. A last finding then reports that the list is incomplete. */
export function answerAll(
  engine: string,
  policy: string,
  input: RuleInput,
  answer: (question: PolicyQuestion) => readonly Finding[],
): readonly Finding[] {
  const findings: Finding[] = [];
  for (const question of toQuestions(input)) {
    findings.push(...answer(question));
    if (findings.length >= maxFindings)
      return [
        ...findings.slice(0, maxFindings),
        policyFinding(engine, 'POLICY_DENIED', 'further denials are not listed', { policy }),
      ];
  }
  return findings;
}

/** One finding for each fault of the policy's files, sorted: an engine may report them in any order. */
export function invalidPolicy(
  engine: string,
  policy: string,
  faults: readonly PolicyFault[],
): readonly Finding[] {
  const keyed = new Map(faults.map((fault) => [`${fault.path}\n${fault.message}`, fault]));
  return [...keyed]
    .sort(([left], [right]) => (left < right ? -1 : 1))
    .slice(0, maxFindings)
    .map(([, { path, message }]) =>
      policyFinding(engine, 'POLICY_INVALID', `policy \`${policy}\` (\`${path}\`) is not valid: ${message}`, {
        policy,
        file: path,
      }),
    );
}

/** A fault of one policy file. */
export interface PolicyFault {
  readonly path: string;
  readonly message: string;
}

/** Text of a policy file, or `undefined` if it is not UTF-8. */
export function policyText(bytes: Uint8Array): string | undefined {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch {
    return undefined;
  }
}

/** The same facts as one flat object, for engines without entities. Keys: see `docs/reference/plugins.md`. */
export function toFlatFacts({
  action,
  user,
  digest,
  change,
  file,
  context,
}: PolicyQuestion): Record<string, unknown> {
  return {
    action,
    user: user.id,
    userKind: user.kind,
    object: file?.path ?? 'change',
    digest,
    change,
    ...(file ? { file } : {}),
    ...context,
  };
}

function sidesOf(file: PatchFile): readonly PatchFile[] {
  const { oldPath, changeType, newMode: _newMode, ...rest } = file;
  if (oldPath === undefined || changeType !== 'rename') return [file];
  return [file, { ...rest, path: oldPath, changeType: 'delete' }];
}

function toChange({ spec, patch: { files }, artifacts }: RuleInput): ChangeFacts {
  const places = files.flatMap(({ path, oldPath }) => (oldPath === undefined ? [path] : [path, oldPath]));
  return {
    changeType: spec.intent.changeType,
    risk: spec.risk.level,
    files: files.length,
    binaryFiles: files.filter(({ binary }) => binary).length,
    linesAdded: files.reduce((sum, { linesAdded }) => sum + linesAdded, 0),
    linesDeleted: files.reduce((sum, { linesDeleted }) => sum + linesDeleted, 0),
    paths: distinct(places),
    directories: distinct(places.flatMap(directoriesOf)),
    extensions: distinct(places.map(extensionOf)),
    artifacts: distinct(artifacts.map(({ name }) => name)),
  };
}

function toFile(file: PatchFile): FileFacts {
  const { path, oldPath, changeType, binary, linesAdded, linesDeleted, newMode } = file;
  return {
    path,
    ...(oldPath === undefined ? {} : { oldPath }),
    directory: path.includes('/') ? path.slice(0, path.lastIndexOf('/')) : '',
    directories: distinct(directoriesOf(path)),
    extension: extensionOf(path),
    changeType,
    binary,
    executable: newMode === '100755',
    linesAdded,
    linesDeleted,
  };
}

function toContext({ stage, approvals = [], approvalGroups = {} }: RuleInput): ContextFacts {
  const checks = stage?.checks ?? [];
  const byStatus = (status: string) =>
    distinct(checks.filter((one) => one.status === status).map(({ id }) => id));
  const findings = checks.flatMap((check) => check.findings);
  const bySeverity = (severity: string) => findings.filter((one) => one.severity === severity);
  const counting = approvals.filter(({ status }) => status === 'counts');
  const approved = counting.filter(({ decision }) => decision === 'approve');
  const approvers = distinct(approved.map(({ principal }) => principal));
  const groups = Object.entries(approvalGroups).filter(([, members]) =>
    members.some((member) => approvers.some((one) => one.toLowerCase() === member.toLowerCase())),
  );
  return {
    stage: stage?.name ?? '',
    checks: { passed: byStatus('passed'), failed: byStatus('failed'), waiting: byStatus('waiting') },
    findings: {
      rules: distinct(findings.map(({ rule }) => rule)),
      errors: bySeverity('error').length,
      warnings: bySeverity('warning').length,
      notes: bySeverity('note').length,
    },
    approvals: {
      approvers,
      rejecters: distinct(
        counting.filter(({ decision }) => decision === 'reject').map(({ principal }) => principal),
      ),
      groups: groups.map(([name]) => name),
      roles: distinct(approved.flatMap(({ role }) => role ?? [])),
      count: approvers.length,
    },
  };
}

function directoriesOf(path: string): string[] {
  const segments = path.split('/').slice(0, -1);
  return segments.map((_, index) => segments.slice(0, index + 1).join('/'));
}

/** Without the dot; empty for a name without one and for a dot file. */
function extensionOf(path: string): string {
  const name = path.slice(path.lastIndexOf('/') + 1);
  const dot = name.lastIndexOf('.');
  return dot <= 0 ? '' : name.slice(dot + 1);
}

function distinct(words: readonly string[]): string[] {
  return [...new Set(words)];
}
