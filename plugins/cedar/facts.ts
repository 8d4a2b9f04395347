import type { Context, EntityJson, TypeAndId } from '@cedar-policy/cedar-wasm/nodejs';
import type { PatchFile, RuleInput } from '../../plugin.ts';

/** One question to the policy engine. */
export interface Request {
  readonly principal: TypeAndId;
  readonly action: TypeAndId;
  readonly resource: TypeAndId;
  readonly context: Context;
  readonly entities: EntityJson[];
  /** Where the question is about one file. */
  readonly path?: string;
}

/**
 * May this change be committed, and may each of its files be changed: everything that is asked of a policy, in order.
 */
export function toRequests(input: RuleInput): readonly Request[] {
  const { patch, spec } = input;
  const { type, id } = spec.metadata.createdBy;
  const principal = { type: 'Actor', id };
  const actor: EntityJson = { uid: principal, attrs: { kind: type }, parents: [] };
  const context = toContext(input);
  const change = { type: 'Change', id: patch.digest };
  return [
    {
      principal,
      action: { type: 'Action', id: 'commit' },
      resource: change,
      context,
      entities: [actor, { uid: change, attrs: toChange(input), parents: [] }],
    },
    ...patch.files.flatMap(sidesOf).map((file): Request => {
      const resource = { type: 'File', id: file.path };
      const entity = { uid: resource, attrs: toFile(file), parents: [] };
      const action = { type: 'Action', id: 'change' };
      return { principal, action, resource, context, entities: [actor, entity], path: file.path };
    }),
  ];
}

/**
 * A file that moved is asked about at both places: where it was, as one that is deleted there. A copy leaves its source
 * alone.
 */
function sidesOf(file: PatchFile): readonly PatchFile[] {
  const { oldPath, changeType, newMode: _newMode, ...rest } = file;
  if (oldPath === undefined || changeType !== 'rename') return [file];
  return [file, { ...rest, path: oldPath, changeType: 'delete' }];
}

function toChange({ spec, patch: { files }, artifacts }: RuleInput): EntityJson['attrs'] {
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

function toFile(file: PatchFile): EntityJson['attrs'] {
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

/** What the checks before this one did, and who has spoken. */
function toContext({ stage, approvals = [], approvalGroups = {} }: RuleInput): Context {
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
