import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { canonicalize } from '../../../core/base/canonical.ts';
import { isWritError, type WritError } from '../../../core/base/errors.ts';
import { valueAt } from '../../../core/base/json-pointer.ts';
import type { Issue } from '../../../core/interfaces/finding.ts';
import type { RunView } from '../../../core/interfaces/run-view.ts';
import type { Json, Sample } from '../../engine/sample.ts';

/** A place in what a run left, and what is there under each of the two specs. */
export interface Difference {
  /** Kind of the observation, such as `decision`, `finding`, `object`, `statement`, `plan` or `issue`. */
  readonly at: string;
  /** Path of the record's file; only of kinds that have several files. */
  readonly file?: string;
  /** JSON Pointer into what was observed; absent: all of it. */
  readonly path?: string;
  /** Absent: nothing is there. */
  readonly a?: Json;
  readonly b?: Json;
  /** Instead of `a` and `b`: something is there under both, and it is not the same. For digests. */
  readonly unlike?: true;
  /** Instead of `a` and `b`: this text is part of what is there under the spec `in`, and not under the other one. */
  readonly holds?: string;
  readonly in?: 'a' | 'b';
}

/** What came of one spec: values by kind, and by file where a kind has several. */
export interface Observation {
  look(at: string, file?: string): Json | undefined;
}

/** What stands at the place of a difference. */
export function lookAt(seen: Observation, { at, file, path = '' }: Difference): Json | undefined {
  return valueAt(seen.look(at, file), path) as Json | undefined;
}

/** An observation that is known from the start. Throws for a kind that it does not have, so that a typing error in a pair is found. */
export function observed(values: Readonly<Record<string, Json | undefined>>): Observation {
  return {
    look(at) {
      if (!Object.hasOwn(values, at))
        throw new Error(`\`${at}\` is not observed here: ${Object.keys(values)}`);
      return values[at];
    },
  };
}

/** `severity CODE /path`, in the order of the document. */
export const issueLines = (issues: readonly Pick<Issue, 'severity' | 'code' | 'path'>[]): readonly string[] =>
  issues.map(({ severity, code, path }) => `${severity} ${code} ${path}`);

/** Of a run that was refused before any work: it left nothing but the reason. */
export function refused(fault: unknown): Observation {
  if (!isWritError(fault)) throw fault;
  const { code, detail } = fault as WritError;
  const { issues = [] } = (detail ?? {}) as { readonly issues?: readonly Issue[] };
  const known: Readonly<Record<string, Json>> = { refusal: code, issue: issueLines(issues) };
  return { look: (at) => known[at] };
}

/** What a run left in its repository, read when it is looked at. `more` is what the driver saw. */
export function ofRun(
  sample: Sample,
  view: RunView,
  spec: Json,
  more: Readonly<Record<string, Json | undefined>> = {},
): Observation {
  const prefix = (valueAt(spec, '/objmodel/objectStore/aiRefPrefix') as string | undefined) ?? 'refs/ai/';
  const run = `${prefix}runs/${view.runId}`;
  const intent = `${prefix}intents/${valueAt(spec, '/metadata/id')}`;
  const blob = (name: string): string | undefined => {
    try {
      return sample.git('cat-file', 'blob', name);
    } catch {
      return undefined;
    }
  };
  const parsed = (name: string): Json | undefined => {
    const text = blob(name);
    return text === undefined ? undefined : (JSON.parse(text) as Json);
  };
  const list = (ref: string): readonly string[] =>
    sample.git('for-each-ref', ref) === '' ? [] : sample.git('ls-tree', '-r', '--name-only', ref).split('\n');
  /** An artifact by its name, or the path itself. */
  const pathOf = (file: string): string => view.artifacts.find(({ name }) => name === file)?.path ?? file;
  const events = (): readonly (Json | undefined)[] =>
    list(intent)
      .filter((path) => path.startsWith('events/'))
      .map((path) => parsed(`${intent}:${path}`));
  const checks = view.stages.flatMap((stage) => stage.checks);
  const findings = [
    ...view.findings,
    ...view.stages.flatMap((stage) => stage.findings),
    ...checks.flatMap((check) => check.findings),
  ];
  const kinds: Readonly<Record<string, (file: string) => Json | undefined>> = {
    refusal: () => null,
    issue: () => [],
    decision: () => ({
      state: view.state,
      type: view.decision?.type ?? null,
      rationale: view.decision?.rationale ?? null,
    }),
    finding: () =>
      [
        ...new Set(
          findings.map(({ severity, rule, path }) => [severity, rule, ...(path ? [path] : [])].join(' ')),
        ),
      ].sort(),
    detail: () =>
      findings.map(({ rule, severity, detail = {} }) => `${severity} ${rule} ${canonicalize(detail)}`),
    check: () => Object.fromEntries(checks.map(({ id, status }) => [id, status])),
    stage: () =>
      Object.fromEntries(
        view.stages.map(({ stage, status, ran }) => [
          stage,
          ran === 0 && status !== 'passed' ? 'not run' : status,
        ]),
      ),
    notice: () => (view.notices ?? []).map((notice) => notice.split(':')[0] ?? ''),
    artifact: () =>
      Object.fromEntries(
        view.artifacts.map(({ name, contentType, sha256, redactions = 0, expiresAt }) => [
          name,
          {
            contentType,
            sha256,
            redactions,
            days:
              expiresAt === undefined
                ? null
                : Math.round((Date.parse(expiresAt) - Date.parse(view.startedAt)) / 86_400_000),
          },
        ]),
      ),
    objects: () => list(run),
    object: (file) => parsed(`${run}:${file}`),
    event: () => events().map((event) => valueAt(event, '/kind') as Json),
    reason: () => events().map((event) => (valueAt(event, '/reason') ?? null) as Json),
    frame: () =>
      list(run)
        .filter((path) => path.startsWith('frames/'))
        .map((path) => frameOf(parsed(`${run}:${path}`))),
    content: (file) => blob(`${prefix}content/${view.runId}:${pathOf(file)}`),
    statement: () => statementOf(parsed(`${run}:provenance.sigstore.json`)),
    provenance: () => ({
      bundle: view.provenance?.bundle !== undefined,
      proof: view.provenance?.proof !== undefined,
    }),
    commit: () => {
      const [subject = '', intentId = ''] = sample
        .git('log', '-1', '--format=%s%n%(trailers:key=Intent-Id,valueonly)')
        .split('\n');
      return { subject, intentId, parent: sample.git('log', '-1', '--format=%s', 'HEAD~1') };
    },
    file: (file) => blob(`HEAD:${file}`),
    ref: () =>
      [
        ...new Set(
          sample
            .git('for-each-ref', '--format=%(refname)')
            .split('\n')
            .map((name) => name.replace(view.runId, '<run>').replace(/[0-9a-f-]{36,40}$/, '<id>')),
        ),
      ].sort(),
    kept: () =>
      readdirSync(join(sample.root, '.git', 'objects', 'pack')).filter((name) => name.endsWith('.keep'))
        .length,
    beside: () => readdirSync(join(sample.root, '.git', 'writ')).sort(),
    base: () => sample.git('log', '-1', '--format=%s', view.baseCommit ?? 'HEAD'),
    tool: () =>
      (view.toolUses?.tools ?? []).map(
        ({ tool, action, done, denied, failed }) => `${tool} ${action} ${done} ${denied} ${failed}`,
      ),
    retry: () => (view.retries?.first ?? []).map(({ failed, tasks, next }) => `${failed} ${tasks} ${next}`),
    citation: () =>
      view.citations === undefined
        ? undefined
        : { needed: view.citations.needed, count: view.citations.count },
  };
  return {
    look(at, file = '') {
      if (Object.hasOwn(more, at)) return more[at];
      const kind = kinds[at];
      if (kind === undefined)
        throw new Error(`\`${at}\` is not observed: ${[...Object.keys(kinds), ...Object.keys(more)]}`);
      return kind(file);
    },
  };
}

function statementOf(bundle: Json | undefined): Json | undefined {
  const payload = valueAt(bundle, '/dsseEnvelope/payload');
  return typeof payload === 'string'
    ? (JSON.parse(Buffer.from(payload, 'base64').toString('utf8')) as Json)
    : undefined;
}

function frameOf(frame: Json | undefined): Json {
  const { kind, protected: stays, evicted = false } = frame as Record<string, Json>;
  return `${kind}${stays ? ' protected' : ''}${evicted ? ' evicted' : ''}`;
}
