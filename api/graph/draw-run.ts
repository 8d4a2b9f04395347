import type { ObjectType } from '../../store/object-shapes.ts';
import { sealPaths } from '../../store/record/record-paths.ts';
import type { StoredObject } from '../../store/stored-object.ts';
import type { GraphNode } from '../schemas/other-schemas.ts';
import { type Described, type Drawing, eachOf, named, toDetail } from './drawing.ts';
import { type DrawnType, type ParsedFile, parseFile, type RunRecord, toObjectPath } from './thread-record.ts';

/**
 * Draws one run of a thread below `intent`: plans, tasks, attempts, patch sets, evidence and decisions. If an object
 * names another that the record lacks, that object becomes its own node, tagged `missing`. Unreadable objects are
 * tagged `damaged`.
 */
export function drawRun(drawing: Drawing, run: RunRecord, intent: string | undefined): void {
  const parts = toRunParts(run);
  const nodes = openObjectNodes(drawing, run);
  const plans = nodes.add('plan', parts.plans, describePlan);
  const tasks = nodes.add('task', parts.tasks, describeTask);
  const attempts = nodes.add('run', parts.attempts, describeAttempt);
  const whole = drawWhole(drawing, run, parts);
  nodes.keep('run', run.runId, whole);
  const patchsets = nodes.add('patchset', parts.patchsets, describePatchset);
  const evidence = nodes.add('evidence', parts.evidence, describeEvidence);
  const decisions = nodes.add('decision', parts.decisions, describeDecision);

  const { connect } = drawing;
  const lastPlan = plans.at(-1)?.[1];
  for (const [{ parsed }, id] of plans) {
    connect(intent, id, 'plan');
    if (!parsed.object) continue;
    connect(nodes.demand('plan', parsed.object.previous), id, 'replaced-by');
    for (const task of parsed.object.tasks) connect(id, nodes.demand('task', task), 'task');
  }
  for (const [{ parsed }, id] of tasks) {
    connect(nodes.demand('plan', parsed.object?.plan) ?? lastPlan, id, 'task');
    for (const before of parsed.object?.depends_on ?? []) connect(nodes.demand('task', before), id, 'before');
  }
  for (const [{ parsed, folder }, id] of attempts) {
    const task = folder.startsWith('candidate-') ? undefined : parsed.object?.task;
    const plan = nodes.demand('plan', parsed.object?.plan) ?? lastPlan;
    connect(nodes.demand('task', task) ?? plan ?? intent, id, 'run');
    connect(id, whole, 'part-of');
  }
  connect(nodes.demand('plan', parts.top?.object?.plan) ?? lastPlan ?? intent, whole, 'run');

  const runIn = new Map(attempts.map(([{ folder }, id]) => [folder, id]));
  const runOf = (id: string | undefined, folder: string) =>
    nodes.find('run', id) ?? runIn.get(folder) ?? whole;
  for (const [{ parsed, folder }, id] of patchsets)
    connect(runOf(parsed.object?.run, folder), id, 'patchset');
  const patchsetIn = new Map(patchsets.map(([{ folder }, id]) => [folder, id]));
  for (const [{ parsed, folder }, id] of evidence) {
    const patchset = nodes.demand('patchset', parsed.object?.patchset) ?? patchsetIn.get(folder);
    connect(patchset ?? runOf(parsed.object?.run, folder), id, 'evidence');
  }
  for (const [{ parsed, folder }, id] of decisions) {
    connect(runOf(parsed.object?.run, folder), id, 'decision');
    const { evidence: shown = [], patchset } = parsed.object ?? {};
    for (const one of shown) connect(nodes.demand('evidence', one), id, 'rests-on');
    if (shown.length === 0) connect(nodes.demand('patchset', patchset), id, 'rests-on');
  }
}

/** Draws the run node. It exists even if the record cannot be read. */
function drawWhole(drawing: Drawing, run: RunRecord, { top, decisions }: RunParts): string | undefined {
  const isRecorded = run.state === 'decided' || run.state === 'waiting';
  const isGone = top === undefined && isRecorded && run.isWhole;
  const damage = isGone ? '`run.json` is missing' : top && 'problem' in top ? top.problem : undefined;
  const problem = run.problem ?? damage;
  const typeAt = (path: string) => decisions.find((one) => one.path === path)?.parsed.object?.type;
  // A rollback overrides the earlier decision.
  const ended = typeAt(sealPaths.rollback) ?? typeAt('decision.json');
  const shown = describeRun({ ...run, ...(problem === undefined ? {} : { problem }) }, top?.object, ended);
  return drawing.add({ id: run.runId, kind: 'run', ...shown }, run.place);
}

type Finding = StoredObject<'patchset'>['findings'][number];

/** What an attempt made. */
function describePatchset(patchset: StoredObject<'patchset'>): Described {
  const { files, findings } = patchset;
  let [added, deleted] = [0, 0];
  for (const file of files) {
    added += file.lines_added;
    deleted += file.lines_deleted;
  }
  const size = `${files.length} file${files.length === 1 ? '' : 's'} +${added} -${deleted}`;
  return {
    label: files.length === 0 ? 'no change' : size,
    tags: [patchset.apply_status.toLowerCase()],
    detail: toDetail(
      eachOf(files, (file) => `${file.change_type} ${file.path} +${file.lines_added} -${file.lines_deleted}`),
      eachOf(findings, toLine),
      named('digest', patchset.digest),
      named('candidate tree', patchset.candidate_tree),
    ),
  };
}

/** What a check or a stage showed. */
function describeEvidence(evidence: StoredObject<'evidence'>): Described {
  const { tests, findings } = evidence;
  return {
    label: evidence.kind,
    tags: [evidence.status, ...(evidence.required ? [] : ['optional'])],
    detail: toDetail(
      evidence.summary,
      named('command', evidence.command),
      evidence.timed_out === true ? 'ended at its time limit' : named('exit code', evidence.exit_code),
      named('signal', evidence.signal),
      tests === undefined
        ? undefined
        : `tests: ${tests.passed} passed, ${tests.failed} failed, ${tests.skipped} skipped`,
      eachOf(findings, toLine),
      named('took ms', evidence.duration_ms),
      named('made at', evidence.created_at),
    ),
  };
}

/** What was decided, and why. */
function describeDecision(decision: StoredObject<'decision'>): Described {
  const { type, next, commit_sha: commit } = decision;
  return {
    label: commit === undefined ? toEnd(type, next) : `${type} ${commit.slice(0, 12)}`,
    tags: [type],
    detail: toDetail(
      decision.rationale,
      eachOf(decision.reasons, (reason) => `reason: ${reason}`),
      named('trigger', decision.trigger),
      named('commit', commit),
      named('target', decision.target_ref),
      named('made without provenance', decision.unproven),
      named('decided at', decision.created_at),
    ),
  };
}

function toEnd(type: string, next: string | undefined): string {
  return next === undefined || next === type ? type : `${type}, then ${next}`;
}

function toLine({ severity, rule, message, path, line }: Finding): string {
  const where = path === undefined ? '' : ` ${path}${line === undefined ? '' : `:${line}`}`;
  return `${severity}: ${rule}${where} ${message}`;
}

/** A revision of a plan. */
function describePlan(plan: StoredObject<'plan'>): Described {
  const { reason, diff_summary: change, scope } = plan;
  return {
    label: `plan ${plan.revision}`,
    tags: plan.previous === undefined ? [] : ['revision'],
    detail: toDetail(
      reason === undefined ? undefined : `replanned after ${reason}`,
      change,
      `${plan.tasks.length} tasks`,
      eachOf(plan.steps, ({ objective }) => `step: ${objective}`),
      scope.whole_repository
        ? 'may write: the whole repository'
        : eachOf(scope.write, (one) => `may write: ${one}`),
      eachOf(scope.forbidden, (one) => `may not write: ${one}`),
      named('made at', plan.created_at),
    ),
  };
}

/** A Task of a plan. */
function describeTask(task: StoredObject<'task'>): Described {
  const { kind, gate_stage: stage, steps } = task;
  // All implementation tasks share one title; a single step is more specific.
  const about = kind !== 'gate' && steps.length === 1 ? (steps[0] ?? task.title) : task.title;
  return {
    label: task.number === undefined ? about : `task ${task.number}: ${about}`,
    tags: kind === 'gate' ? ['gate', ...(stage === undefined ? [] : [stage])] : [],
    detail: toDetail(
      eachOf(
        steps.filter((one) => one !== about),
        (one) => `step: ${one}`,
      ),
      eachOf(task.predicted_writes ?? [], (one) => `expected to write: ${one}`),
      eachOf(task.acceptance_criteria, (one) => `accepted when: ${one}`),
      named('title', task.title === about ? undefined : task.title),
      named('goal', task.goal),
      eachOf(task.constraints, (one) => `constraint: ${one}`),
    ),
  };
}

/** The run of a record as a whole; `ended` is what its decision came to. */
function describeRun(
  { runId, state, place, isWhole, problem, started }: RunRecord,
  run: StoredObject<'run'> | undefined,
  ended: string | undefined,
): Described {
  return {
    label: `run ${runId}`,
    tags: [ended ?? state, ...(problem === undefined ? [] : ['damaged']), ...(isWhole ? [] : ['folded'])],
    detail: toDetail(
      problem,
      isWhole ? undefined : 'not all of its objects are drawn',
      named('started at', run?.started_at),
      named('contract', started?.specId),
      ...(run === undefined ? [] : groundOf(run)),
      named('attempts', run?.attempt),
      named('kept in', place),
    ),
  };
}

/**
 * Describes one attempt at a task, or a merged candidate that was returned for rework. `folder` is its path in the
 * record.
 */
function describeAttempt(run: StoredObject<'run'>, folder: string): Described {
  const candidate = /^candidate-(\d+)/.exec(folder)?.[1];
  const { outcome } = run;
  return {
    label: candidate === undefined ? `attempt ${run.attempt}` : `merged candidate ${candidate}`,
    tags: [
      candidate === undefined ? 'attempt' : 'candidate',
      ...(outcome !== undefined && /^[a-z-]{1,30}$/.test(outcome) ? [outcome] : []),
    ],
    detail: toDetail(
      named('started at', run.started_at),
      named('finished at', run.finished_at),
      ...groundOf(run),
      named('kept as', folder),
    ),
  };
}

function groundOf(run: StoredObject<'run'>): readonly (string | undefined | readonly string[])[] {
  return [
    named('base commit', run.base_commit),
    named('target', run.target_ref),
    named('policy of', run.policy_ref),
    named('sandbox', run.sandbox),
    eachOf(Object.entries(run.metrics ?? {}), ([name, value]) => `${name}: ${value}`),
  ];
}

type Kind = GraphNode['kind'];

/** Nodes of one record, found again by what its objects call themselves. */
interface ObjectNodes {
  /** Draws each object. Returns each with its node, or `undefined` if the node limit was reached. */
  add<T extends ObjectType>(
    kind: Kind,
    placed: readonly Placed<T>[],
    describe: (object: StoredObject<T>, folder: string) => Described,
  ): readonly (readonly [Placed<T>, string | undefined])[];
  /** The node of that kind and id; `undefined` where there is none. */
  find(kind: Kind, id: string | undefined): string | undefined;
  /**
   * The same; what the record names and does not hold is drawn as missing, where the record was read whole.
   */
  demand(kind: Kind, id: string | undefined): string | undefined;
  /** Records the node of an id. */
  keep(kind: Kind, id: string | undefined, node: string | undefined): void;
}

/** Begins with none. */
function openObjectNodes(
  drawing: Drawing,
  { place, isWhole, problem }: Pick<RunRecord, 'place' | 'isWhole' | 'problem'>,
): ObjectNodes {
  // By kind as well: an id in the wrong place leads nowhere.
  const known = new Map<string, string>();
  const find: ObjectNodes['find'] = (kind, id) => known.get(`${kind} ${id}`);
  const keep: ObjectNodes['keep'] = (kind, id, node) => {
    if (id !== undefined && node !== undefined && find(kind, id) === undefined)
      known.set(`${kind} ${id}`, node);
  };
  return {
    find,
    keep,
    add: (kind, placed, describe) =>
      placed.map((one) => {
        const { path, folder, parsed } = one;
        const where = `${place}:${path}`;
        const shown =
          'problem' in parsed
            ? { label: `damaged ${kind}`, tags: ['damaged'], detail: `${parsed.problem}\n${where}` }
            : describe(parsed.object, folder);
        const id = drawing.add({ id: parsed.id ?? where, kind, ...shown }, where);
        keep(kind, parsed.id, id);
        return [one, id] as const;
      }),
    demand(kind, id) {
      const node = find(kind, id);
      // An incomplete record cannot prove that an object is missing.
      if (node !== undefined || id === undefined || !isWhole || problem !== undefined) return node;
      const detail = `named in ${place}, and not there`;
      const shown = { id, kind, label: `missing ${kind}`, tags: ['missing'], detail };
      const missing = drawing.add(shown, `${place}#${id}`);
      keep(kind, id, missing);
      return missing;
    },
  };
}

/** An object of a record with the place that it has there. */
interface Placed<T extends ObjectType> {
  readonly path: string;
  /** '' of the run as a whole, else of an attempt or a candidate. */
  readonly folder: string;
  readonly parsed: ParsedFile<T>;
}

/** What a record holds, sorted out; each in the order in which it came about. */
interface RunParts {
  readonly top: ParsedFile<'run'> | undefined;
  /** Attempts at tasks, and candidates returned for rework. */
  readonly attempts: readonly Placed<'run'>[];
  readonly plans: readonly Placed<'plan'>[];
  readonly tasks: readonly Placed<'task'>[];
  readonly patchsets: readonly Placed<'patchset'>[];
  readonly evidence: readonly Placed<'evidence'>[];
  readonly decisions: readonly Placed<'decision'>[];
}

/** Parses every file of the record that is drawn. A damaged file keeps its place. */
function toRunParts({ files }: Pick<RunRecord, 'files'>): RunParts {
  const of = <T extends DrawnType & ObjectType>(type: T): readonly Placed<T>[] =>
    files.flatMap((file) => {
      const at = toObjectPath(file.path);
      return at?.type === type ? [{ path: file.path, folder: at.folder, parsed: parseFile(type, file) }] : [];
    });
  const runs = of('run').toSorted(by(({ started_at: at }) => Date.parse(at)));
  const attempts = runs.filter(({ folder }) => folder !== '');
  const turn = new Map(attempts.map(({ folder }, index) => [folder, index]));
  const inTurn = (a: { readonly folder: string }, b: { readonly folder: string }): number =>
    (turn.get(a.folder) ?? attempts.length) - (turn.get(b.folder) ?? attempts.length);
  return {
    top: runs.find(({ folder }) => folder === '')?.parsed,
    attempts,
    plans: of('plan').toSorted(by(({ revision }) => revision)),
    tasks: of('task').toSorted(by(({ number = 0 }) => number)),
    patchsets: of('patchset').toSorted(inTurn),
    evidence: of('evidence').toSorted(inTurn),
    decisions: of('decision').toSorted(by(({ created_at: at }) => Date.parse(at))),
  };
}

/** Order of objects by a number of theirs; damaged ones come first. */
function by<T extends ObjectType>(toNumber: (object: StoredObject<T>) => number) {
  const rank = ({ parsed }: Placed<T>): number => (parsed.object ? toNumber(parsed.object) : -1);
  return (a: Placed<T>, b: Placed<T>): number => rank(a) - rank(b);
}
