/* The cases of a plugin's parts in `cases.json`: what each kind of part is tested with. */
import { messageOf } from '../../../core/base/errors.ts';
import {
  anything,
  as,
  count,
  flag,
  list,
  mapOf,
  number,
  object,
  oneOf,
  parse,
  type Schema,
  SchemaFault,
  text,
  where,
  withDefault,
} from '../../../core/base/schema.ts';
import type { ArtifactFacts, CheckFacts } from '../../../core/interfaces/check.ts';
import { failureKinds } from '../../../core/interfaces/model.ts';
import { stageNames } from '../../../core/interfaces/stage.ts';
import type { ArtifactCase } from '../../../plugins/testers/artifact-tester.ts';
import type { EvidenceCase } from '../../../plugins/testers/evidence-tester.ts';
import type { GateCases } from '../../../plugins/testers/gate-tester.ts';
import type { LogWire } from '../../../plugins/testers/log-tester.ts';
import type { ProviderCase } from '../../../plugins/testers/provider-tester.ts';
import { sampleSpecWith } from '../../../plugins/testers/run-cases.ts';
import type { StageCheckCase } from '../../../plugins/testers/stage-check-tester.ts';
import { findSchemaViolations } from '../../../spec/document-schema.ts';

type Members = Readonly<Record<string, Schema<unknown>>>;
type Fields = Readonly<Record<string, unknown>>;

const maxCases = 500;
const maxText = 4 * 1024 * 1024;
const longText = text(maxText, 0);
const line = text(4096);
const anyObject = (wanted = 'an object') => mapOf(wanted, anything);

/** Returns a parser. The words of a fault begin with its case and the way to its member. */
function readerOf<T>(schema: Schema<T>): (given: unknown) => T {
  return (given) => {
    try {
      return parse(schema, given);
    } catch (fault) {
      throw fault instanceof SchemaFault ? new TypeError(`${wayTo(fault, given)}${fault.message}`) : fault;
    }
  };
}

function wayTo({ facts: { path, expected } }: SchemaFault, given: unknown): string {
  const last = path.findLastIndex((token) => typeof token === 'string');
  const isNamed = expected.includes(`\`${path[last]}`);
  let at = given;
  return path
    .map((token, index) => {
      at = Object(at)[token];
      if (typeof token === 'string') return index === last && isNamed ? '' : `\`${token}\`: `;
      return path.findIndex((one) => typeof one === 'number') === index ? caseAt(token, at) : '';
    })
    .join('');
}

function caseAt(index: number, given: unknown): string {
  const { name } = Object(given);
  return typeof name === 'string' && name !== '' ? `case \`${name.slice(0, 200)}\`: ` : `case ${index + 1}: `;
}

/** Cases with a unique name each; absent: none. */
function casesOf<T>(required: Members, optional: Members, check: (fields: Fields) => void = () => {}) {
  const one = as(object('a case', { name: text(200), ...required }, optional), (fields: Fields) => {
    check(fields);
    return fields as T;
  });
  return as(withDefault(list(one, maxCases), []), (cases) => {
    const names = (cases as readonly Fields[]).map(({ name }) => name);
    const twice = names.findIndex((name, at) => names.indexOf(name) !== at);
    if (twice < 0) return cases;
    const message = 'expected a `name` of its own, got that of another case';
    throw new SchemaFault(message, { path: [twice], expected: message, found: undefined });
  });
}

/** Files of a change by path: the text of each side, with path and modes. */
const side = { base: longText, candidate: longText, oldPath: longText, oldMode: longText, newMode: longText };
const files = mapOf('an object', object('the sides of a file', {}, side));

/** A case may exceed the IntentSpec's limits, but it may not hold a field or value that the schema does not know. */
const namesNothing: readonly string[] = ['type', 'enum', 'const', 'additionalProperties'];

const spec = as(anyObject('an object `spec`'), (fields) => {
  const [found] = findSchemaViolations(sampleSpecWith(fields)).filter(({ keyword }) =>
    namesNothing.includes(keyword),
  );
  if (found === undefined) return fields;
  const expected =
    found.keyword === 'additionalProperties'
      ? `no field \`${String(found.said).slice(0, 128)}\``
      : `${found.keyword} ${JSON.stringify(found.said)}`;
  throw new TypeError(`\`spec${found.at}\`: expected ${expected}, as in a spec`);
});

/** What the plugin is opened with. */
const options = anyObject('an object `options`');

/** Path and body of a question. */
const wire = object('an object `wire`', {}, { path: text(2048), body: anything });

/** An answer of 1xx is none: the server could not end with it. */
const answer = {
  status: count(200, 599),
  headers: mapOf('an object `headers`', text(8192, 0)),
  text: longText,
  json: anything,
};

const finding = {
  severity: oneOf('error', 'warning', 'note'),
  message: line,
  path: line,
  line: count(1),
  column: count(1),
};
const findingsWith = (more: Members) => list(object('a finding', {}, { ...finding, ...more }));
const detail = anyObject('an object `detail`');

/** The cases of one artifact. */
export const parseArtifactCases = readerOf(
  casesOf<ArtifactCase>(
    {
      expect: where(
        object('an object', {}, { includes: list(line), json: anything, unmade: text(1000) }),
        '`includes`, `json` or `unmade`, got none',
        (expect) => Object.keys(expect).length > 0,
      ),
    },
    {
      files,
      spec,
      options,
      stages: list(
        as(anyObject('a stage'), (given) => {
          const lists = list(anyObject());
          const { stage, checks, findings, artifacts } = given;
          parse(
            object('a stage', {
              stage: oneOf(...stageNames),
              checks: lists,
              findings: lists,
              artifacts: lists,
            }),
            { stage, checks, findings, artifacts },
          );
          return given;
        }),
      ),
    },
  ),
);

/** The cases of one evidence policy. */
export const parseEvidenceCases = readerOf(
  casesOf<EvidenceCase>(
    { expect: object('an object', {}, { refuse: text(1000), order: count(0) }) },
    {
      source: object(
        'an object',
        {},
        {
          name: line,
          url: line,
          trustTier: oneOf('repo', 'standards', 'vendor-doc', 'web', 'user-provided'),
          isAllowedHost: flag,
        },
      ),
      soFar: object('an object', { repositoryUses: count(0) }),
      options,
    },
    ({ source, soFar }) => {
      if (source !== undefined && soFar !== undefined)
        throw new TypeError('expected one of `source` and `soFar`, got both');
    },
  ),
);

const gateCases = casesOf<GateCases['valid'][number]>(
  {},
  {
    files,
    spec,
    options,
    args: list(text(4096, 0), 256),
    artifacts: list(anyObject()),
    stage: object('an object', { name: oneOf(...stageNames), checks: list(anyObject('a check')) }),
    approvals: list(anyObject()),
    approvalGroups: mapOf('an object', list(line)),
    expect: findingsWith({ rule: line, detail }),
  },
);

/** The cases of one rule. */
export const parseGateCases = readerOf<GateCases>(
  object('an object', { valid: gateCases, invalid: gateCases }),
);

const bodies = ['events', 'lines', 'json', 'text'];
const usage = { input: count(0), output: count(0) };

/** The cases of one provider. */
export const parseProviderCases = readerOf(
  casesOf<ProviderCase>(
    {
      expect: object(
        'an object',
        {},
        {
          text: longText,
          reasoning: longText,
          calls: list(object('a call', { id: longText, name: longText, arguments: longText })),
          usage: object('an object', usage, { cachedInput: count(0), reasoning: count(0) }),
          end: oneOf('stop', 'calls', 'length', 'refused', 'filtered'),
          failure: object(
            'an object',
            { kind: oneOf(...failureKinds) },
            { status: count(100, 599), retryAfterSeconds: count(0) },
          ),
        },
      ),
    },
    {
      model: text(200),
      request: object(
        'an object `request`',
        {},
        Object.fromEntries(
          ['model', 'system', 'messages', 'tools', 'maxOutputTokens', 'temperature', 'cacheKey'].map(
            (name) => [name, anything],
          ),
        ),
      ),
      ...answer,
      lines: list(anything),
      events: list(
        object(
          'an event',
          { data: where(anything, '`data`, got nothing', (data) => data !== undefined) },
          { event: text(200) },
        ),
      ),
      wire,
    },
    (fields) => {
      const found = bodies.filter((body) => Object.hasOwn(fields, body));
      if (found.length === 1) return;
      const expected = bodies.map((body) => `\`${body}\``).join(', ');
      throw new TypeError(`expected one body (${expected}), got ${found.join(' and ') || 'none'}`);
    },
  ),
);

const checkFacts: Readonly<Record<keyof CheckFacts, Schema<unknown>>> = {
  id: line,
  kind: line,
  stage: line,
  status: line,
  required: flag,
  fromPolicy: flag,
  tolerated: flag,
  command: line,
  expectedExitCode: number,
  exitCode: number,
  timedOut: flag,
  tests: object('an object `tests`', { passed: count(0), failed: count(0), skipped: count(0) }),
};
const artifactFacts: Readonly<Record<keyof ArtifactFacts, Schema<unknown>>> = {
  name: line,
  stage: line,
  checkId: line,
  sha256: line,
  sizeBytes: number,
  contentType: line,
};
const stageCheckCases = casesOf<StageCheckCase>(
  { expect: findingsWith({ detail }) },
  {
    stage: oneOf(...stageNames),
    spec,
    files,
    checks: list(object('an object', {}, checkFacts)),
    findings: findingsWith({ rule: line, stage: line, check: line }),
    artifacts: list(object('an object', {}, artifactFacts)),
    answer: object('an object', {}, answer),
    wire,
  },
);

const parseCheckCases = readerOf(stageCheckCases);

/** The cases of a stage check, and the options that direct the plugin to its declared host. */
export function parseStageCheckCases(name: string, given: unknown) {
  const entry = object(`an object \`${name}\``, { options: withDefault(options, {}) }, { cases: anything });
  const { cases, ...more } = readerOf(entry)(given ?? {});
  return { ...more, cases: parseCheckCases(cases) };
}

/** A response template with `words` as placeholders. Without one, every response would be the same. */
function templateOf(words: readonly string[]): Schema<unknown> {
  return as(anything, (template) => {
    const found = wordsIn(template);
    const odd = found.find((word) => !words.includes(word));
    if (odd !== undefined)
      throw new TypeError(`expected one of ${words.join(', ')}, got \`${odd.slice(0, 40)}\``);
    if (found.length === 0) throw new TypeError(`expected at least one of ${words.join(', ')}, got none`);
    return template;
  });
}

function wordsIn(template: unknown): readonly string[] {
  if (typeof template === 'string') return template.startsWith('$') ? [template] : [];
  if (typeof template !== 'object' || template === null) return [];
  return Object.values(template).flatMap(wordsIn);
}

const logPath = where(text(2048), 'to begin with `/`', (path) => path.startsWith('/'));
/** Words of an answer: of what is appended. */
const appended = ['$index', '$size', '$root', '$path', '$checkpoint', '$rootHex', '$pathHex'];
const logCase = {
  append: object('an object', { path: logPath, json: templateOf(appended) }, { field: text(64) }),
  size: object('an object', { path: logPath, json: templateOf(['$size']) }),
  options: withDefault(options, {}),
};
/** The path must contain both sizes. */
const growth = object('an object, as the manifest says `consistency`', {
  path: where(logPath, 'to hold `$from` and `$to`', (path) => path.includes('$from') && path.includes('$to')),
  json: templateOf(['$path', '$pathHex']),
});

/**
 * A log's wire format, and the options that direct the plugin to its declared host. `isProven`: the manifest declares
 * `consistency`.
 */
export function parseLogCase(
  name: string,
  given: unknown,
  isProven = false,
): { readonly wire: LogWire; readonly options: Fields } {
  const members = isProven ? { ...logCase, consistency: growth } : logCase;
  const { options, ...wire } = readerOf(object(`an object \`${name}\``, members))(given);
  return { wire, options };
}

/** Reads a member; errors name the member. */
export function within<T>(member: string, read: () => T): T {
  try {
    return read();
  } catch (fault) {
    throw new TypeError(`\`${member}\`: ${messageOf(fault)}`, { cause: fault });
  }
}
