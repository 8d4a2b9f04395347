import { isObject, type Json } from '../../test/compatibility/old-state.ts';

/**
 * Which members of an answer are facts: `true` keeps a value whole, an object keeps these members of it or of its
 * elements.
 */
type Shape = true | { readonly [key: string]: Shape };

const run: Shape = {
  run_id: true,
  thread_id: true,
  state: true,
  spec: { id: true, digest: true },
  base_commit: true,
  policy_commit: true,
  policy_ref: true,
  target_ref: true,
  content_ref: true,
  patch: { digest: true, candidate_tree: true },
  decision: { type: true, commit_sha: true, decision_digest: true },
  stages: {
    stage: true,
    status: true,
    expected: true,
    ran: true,
    checks: { id: true, status: true, exit_code: true },
  },
  findings: { rule: true, severity: true, path: true },
  artifacts: { stage: true, name: true, sha256: true },
  attempts: { task: true, attempt: true, status: true },
};

/**
 * The members that a command's answer is compared by: ids, digests, states, counts. Sentences are left out, since later
 * versions may word them otherwise.
 */
const shapes: Readonly<Record<string, Shape>> = {
  run,
  resume: run,
  show: run,
  cancel: run,
  verify: { verified: true, checks: { id: true, status: true, code: true } },
  replay: { run_id: true, equal: true, decision: { type: true } },
  runs: {
    runs: { run_id: true, state: true, spec_id: true, thread_id: true, decision: true, commit_sha: true },
  },
  fsck: { problems: true, checked: true, restored: true },
  'spec show': {
    spec_id: true,
    thread_id: true,
    digest: true,
    status: true,
    events: { at: true, kind: true, by: true, run_id: true, from: true, status: true },
  },
  'ledger show': { origin: true, vkey: true, size: true, root_hash: true, checkpoint: true },
  'ledger prove': true,
  'ledger consistency': true,
  'ledger audit': { origin: true, size: true, root_hash: true },
  graph: { thread_id: true, nodes: { id: true, kind: true }, edges: true },
  'vault list': true,
  'plugin list': true,
};

/** What two answers of the old program to the same command have in common, as far as it is a fact. */
export function commonFacts(args: readonly string[], first: Json, second: Json): Json | undefined {
  const words = args.filter((word) => !word.startsWith('-'));
  const shape = shapes[`${words[0]} ${words[1]}`] ?? shapes[words[0] ?? ''];
  return shape === undefined ? undefined : common(keep(shape, first), keep(shape, second));
}

function keep(shape: Shape, value: Json): Json {
  if (shape === true) return value;
  if (Array.isArray(value)) return value.map((one: Json) => keep(shape, one));
  if (!isObject(value)) return value;
  return Object.fromEntries(
    Object.entries(shape).flatMap(([key, below]) => {
      const found = value[key];
      return found === undefined ? [] : [[key, keep(below, found)]];
    }),
  );
}

/** `undefined` where nothing is the same in both. */
function common(first: Json, second: Json | undefined): Json | undefined {
  if (Array.isArray(first)) {
    if (!Array.isArray(second) || first.length !== second.length) return undefined;
    const elements = first.map((one: Json, at: number) => common(one, second[at]));
    const whole = elements.filter((one) => one !== undefined);
    return whole.length === elements.length ? whole : undefined;
  }
  if (!isObject(first)) return first === second ? first : undefined;
  if (!isObject(second)) return undefined;
  return Object.fromEntries(
    Object.entries(first).flatMap(([key, one]) => {
      const same = common(one, second[key]);
      return same === undefined ? [] : [[key, same]];
    }),
  );
}
