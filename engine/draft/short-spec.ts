/* Expands a short spec: a document that leaves out what the profile of its risk supplies. */
import { canonicalize } from '../../core/base/canonical.ts';
import { toRfc3339 } from '../../core/base/clock.ts';
import { uuidV7From } from '../../core/base/ids.ts';
import { appendPointer, isRecord } from '../../core/base/json-pointer.ts';
import { error, type Issue } from '../../core/interfaces/finding.ts';
import type { ChangeType, VerificationPlan } from '../../core/interfaces/intentspec.gen.ts';
import { type CheckList, checkLists } from '../../spec/checks-of.ts';
import { applyDefaults } from '../../spec/document-schema.ts';
import { workerRights } from '../../spec/facts.ts';
import { type DraftRequest, riskLevels } from '../../spec/profile.ts';
import { strictFields, valueAt } from '../../spec/stricter.ts';
import { changeTypeOf, specFromWords, toCheck, type WordedCheck } from './spec-from-words.ts';

/** Key under `extensions` of an expanded spec: the text that its author wrote. No decision uses it. */
const noteExtension = 'writ/short-spec';

/** The short text that a spec was expanded from; `undefined` if its author wrote all of it. */
export function readAuthorNote(document: unknown): string | undefined {
  const extensions = isRecord(document) ? document.extensions : undefined;
  const note = isRecord(extensions) ? extensions[noteExtension] : undefined;
  return typeof note === 'string' ? note : undefined;
}

type Members = Readonly<Record<string, unknown>>;

/** A short document, and what its place supplies. */
export interface ShortSpec extends Pick<DraftRequest, 'createdBy' | 'repo' | 'baseRef'> {
  readonly stated: Members;
  /** Its bytes, decoded. */
  readonly text: string;
  /** When it was written, epoch milliseconds. */
  readonly writtenMs: number;
  /** The project's tests, where a file says how they run. */
  readonly proposed?: WordedCheck;
}

/**
 * Returns the document with all that it leaves out, and what a short document may not state. The result violates the
 * schema where the short document does. Pure: the same text in the same place is the same document, with its id.
 */
export function expandShortSpec({ stated, text, writtenMs, proposed, ...place }: ShortSpec): {
  readonly document: object;
  readonly issues: readonly Issue[];
} {
  const intent = memberOf(stated, 'intent');
  const level = riskLevels.find((one) => one === memberOf(stated, 'risk').level);
  const summary = typeof intent.summary === 'string' ? intent.summary : '';
  const acceptance = memberOf(stated, 'acceptance');
  const checks = fillChecks(memberOf(acceptance, 'verificationPlan'), proposed);
  const commands = commandsIn(checks);
  const base = specFromWords({
    ...place,
    id: '',
    createdAt: toRfc3339(writtenMs),
    risk: level ?? 'high',
    message: summary || 'not stated',
    changeType: (intent.changeType ?? changeTypeOf(summary)) as ChangeType,
    inScope: [],
    why: 'As the author of the spec stated it.',
    checks: commands,
  });
  const { verificationPlan } = base.acceptance;
  const whole = merged(
    {
      ...base,
      acceptance: {
        ...base.acceptance,
        ...(commands.length > 0 ? {} : { successCriteria: ['every check passes'] }),
        verificationPlan: Object.fromEntries(
          checkLists.map((list) => [list, joined(verificationPlan, list, checks[list])]),
        ),
      },
      security: { ...base.security, toolAcl: { allow: [...workerRights, ...base.security.toolAcl.allow] } },
      // What only a person can say stays missing if it is not stated.
      intent: { ...base.intent, summary: undefined, inScope: undefined },
      risk: { ...base.risk, level: undefined },
      extensions: { [noteExtension]: text },
    },
    withoutLists(stated),
  );
  // Without the members that are missing.
  const document = JSON.parse(JSON.stringify(whole)) as Members;
  const given = applyDefaults(base);
  return {
    document: merged(document, { metadata: { id: uuidV7From(writtenMs, canonicalize(document)) } }),
    issues: [
      ...(hasRequired(checks.fastChecks) ? [] : [noCheck]),
      ...(level === undefined ? [] : policiesIn(stated).flatMap((one) => policyIssue(one, given))),
    ],
  };
}

/** A member that is an object; an empty one for what is missing or has another type. */
function memberOf(holder: Members, name: string): Members {
  const member = Object.hasOwn(holder, name) ? holder[name] : undefined;
  return isRecord(member) ? member : {};
}

/** Objects member by member; everything else is replaced. */
function merged(base: object, over: Members): Members {
  const members = new Map<string, unknown>(Object.entries(base));
  for (const [name, value] of Object.entries(over)) {
    const under = members.get(name);
    members.set(name, isRecord(under) && isRecord(value) ? merged(under, value) : value);
  }
  return Object.fromEntries(members);
}

type Lists = Readonly<Record<CheckList, unknown>>;

/** The lists of checks, with the members that a short check leaves out. A list of another type stays as it is. */
function fillChecks(plan: Members, proposed: WordedCheck | undefined): Lists {
  const tests = proposed === undefined ? [] : [{ kind: proposed.kind, command: proposed.command }];
  const fill = (list: CheckList): unknown => {
    const own = Object.hasOwn(plan, list) ? plan[list] : list === 'fastChecks' ? tests : [];
    if (!Array.isArray(own)) return own;
    const stage = list === 'fastChecks' ? 'check' : list.slice(0, -'Checks'.length);
    return own.map((one: unknown, at) => {
      if (!isRecord(one)) return one;
      return {
        id: list === 'fastChecks' && own.length === 1 ? 'unit' : `${stage}-${at + 1}`,
        kind: typeof one.command === 'string' ? toCheck(one.command).kind : 'command',
        timeoutSeconds: list === 'fastChecks' ? 300 : 900,
        required: true,
        ...(list === 'fastChecks' && at === 0 ? { artifactsProduced: ['test-log'] } : {}),
        ...one,
      };
    });
  };
  return Object.fromEntries(checkLists.map((list) => [list, fill(list)])) as Lists;
}

function commandsIn(lists: Lists): readonly WordedCheck[] {
  const checks = checkLists.flatMap((list) => (Array.isArray(lists[list]) ? lists[list] : []));
  return checks.flatMap((one: unknown) =>
    isRecord(one) && typeof one.command === 'string' && one.kind !== 'policy'
      ? [{ kind: one.kind === 'testSuite' ? 'testSuite' : 'command', command: one.command }]
      : [],
  );
}

/** The profile's own checks stay; those of the author come in place of the project's tests only. */
function joined(profile: VerificationPlan, list: CheckList, own: unknown): unknown {
  const isWords = list === 'fastChecks' || list === 'integrationChecks';
  return isWords || !Array.isArray(own) ? own : [...profile[list], ...own];
}

/** The stated document without the lists of checks, which are filled in already. */
function withoutLists(stated: Members): Members {
  const { acceptance } = stated;
  const plan = isRecord(acceptance) ? acceptance.verificationPlan : undefined;
  if (!isRecord(acceptance) || !isRecord(plan)) return stated;
  const others = Object.entries(plan).filter(([name]) => !checkLists.some((list) => list === name));
  return { ...stated, acceptance: { ...acceptance, verificationPlan: Object.fromEntries(others) } };
}

function hasRequired(fastChecks: unknown): boolean {
  // A list of another type is reported by the schema.
  return !Array.isArray(fastChecks) || fastChecks.some((one) => !isRecord(one) || one.required !== false);
}

const noCheck = error(
  'SEMANTIC_SHORT_SPEC',
  '/acceptance/verificationPlan/fastChecks',
  'expected at least one required check, such as `{"command": "make test"}`',
);

/** What an author says in words; everything else is policy. */
const words = [
  'intent',
  'acceptance.successCriteria',
  'acceptance.verificationPlan',
  'risk.level',
  'risk.rationale',
  'risk.factors',
];

interface StatedPolicy {
  readonly path: readonly string[];
  readonly value: unknown;
}

function policiesIn(stated: unknown, path: readonly string[] = []): readonly StatedPolicy[] {
  const name = path.join('.');
  if (words.includes(name)) return [];
  if (!isRecord(stated) || strictFields.some(({ field }) => field === name)) return [{ path, value: stated }];
  return Object.entries(stated).flatMap(([member, value]) => policiesIn(value, [...path, member]));
}

/** A short document may be stricter than the profile of its risk, and no less strict. */
function policyIssue({ path, value }: StatedPolicy, given: object): readonly Issue[] {
  const row = strictFields.find(({ field }) => field === path.join('.'));
  const profiled = valueAt(given, path);
  if (row?.holds(value, profiled)) return [];
  const why = row
    ? `expected a value at least as strict as \`${JSON.stringify(profiled)}\`, which is that of its risk`
    : 'expected no such member in a short spec';
  return [
    error(
      'SEMANTIC_SHORT_SPEC',
      path.reduce<string>(appendPointer, ''),
      `${why}; a full spec can state it: \`writ spec new\` writes one`,
    ),
  ];
}
