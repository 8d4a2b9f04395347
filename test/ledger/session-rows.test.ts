import { existsSync, globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import t, { type Test } from 'tap';
import { codeCommands } from '../../bin/command-table/code-commands.ts';
import { machineOptions } from '../../bin/command-table/contract-commands.ts';
import { errorCatalogue } from '../../core/base/error-codes.ts';
import { methodRoutes } from '../../session/client/session-requests.ts';
import { optionsOf } from '../../session/state/interaction.ts';
import { approvalPolicies, sessionContexts } from '../../session/state/settings.ts';
import { slashCommands } from '../../session/state/slash-words.ts';
import { toSnapshot } from '../../session/state/snapshot.ts';
import { routeLines } from '../session/hostile/route-lines.ts';
import { everyFact } from '../session/state/every-fact.ts';
import { newWorld } from '../session/state/walk.ts';
import { sessionRest } from './session-rows/rest.ts';
import { sessionRows } from './session-rows/session-rows.ts';

const root = new URL('../..', import.meta.url).pathname;
const ids = [...sessionRows, ...sessionRest].map(({ id }) => id);

/** What the code knows is a row or in the rest, and every row of that kind is known to the code. */
function sameNames(t: Test, kind: string, known: Iterable<string>): void {
  const named = ids.flatMap((id) => (id.startsWith(kind) ? [id.slice(kind.length)] : []));
  t.strictSame(named.sort(), [...new Set(known)].sort(), kind);
}

t.test('every session row is unique and names an existing test', async (t) => {
  t.strictSame(
    ids.filter((id, at) => ids.indexOf(id) !== at),
    [],
  );
  for (const { id, test, named } of sessionRows) {
    const path = join(root, test);
    const text = existsSync(path) ? readFileSync(path, 'utf8') : '';
    t.ok(
      named !== '' && (text.includes(`'${named}`) || text.includes(`\`${named}`)),
      `${id}: ${test}: ${named}`,
    );
  }
  for (const { id, why } of sessionRest) t.ok(why.length > 10, id);
});

t.test('every option of `writ code` is a row, and every option row exists', async (t) => {
  const [code] = codeCommands;
  const beyond = new Set(['record', ...machineOptions.map(({ name }) => name)]);
  const own = (code?.options ?? []).filter(({ name }) => !beyond.has(name));
  sameNames(
    t,
    'option --',
    own.map(({ name }) => name),
  );
  sameNames(t, 'context ', [...Object.keys(sessionContexts), 'read-only']);
});

t.test('every route of a session and every method of its client is a row', async (t) => {
  sameNames(
    t,
    'route ',
    routeLines.map(({ method, path }) => `${method} ${path}`),
  );
  const written = globSync('session/**/*.ts', { cwd: root }).flatMap((path) =>
    [...readFileSync(join(root, path), 'utf8').matchAll(/'(\/api\/code\/[\w/:]+)'/g)].map(
      ([, one = '']) => one,
    ),
  );
  const paths = new Set(ids.flatMap((id) => (id.startsWith('route ') ? [id.split(' ')[2] ?? ''] : [])));
  t.strictSame(
    [...new Set(written)].filter((path) => !paths.has(path)),
    [],
  );
  sameNames(t, 'method ', [...Object.keys(methodRoutes), 'events.subscribe', 'events.unsubscribe']);
});

/** Answers of the service, which no session gives. */
const ofService = [
  'MISSING_SERVICE_TOKEN',
  'INVALID_SERVICE_TOKEN',
  'RESERVED_TYPE',
  'EVENT_TOO_LARGE',
  'SERVICE_ALREADY_RUNNING',
  'SERVICE_NOT_RUNNING',
  'SERVICE_REFUSED',
];

t.test('every slash command is a row', async (t) => {
  sameNames(
    t,
    'slash ',
    slashCommands.map(({ form }) => form),
  );
});

t.test('every session error code is a row with its HTTP status', async (t) => {
  const catalogue = Object.entries(errorCatalogue);
  const codes = catalogue.flatMap(([code, { family }]) =>
    family === 'session' || family === 'http' ? [code] : [],
  );
  sameNames(
    t,
    'error ',
    codes.filter((code) => !ofService.includes(code)),
  );
  for (const { id, rule } of [...sessionRows, ...sessionRest]) {
    const found = catalogue.find(([code]) => id === `error ${code}`);
    if (found !== undefined) t.equal(rule, `status ${found[1].http}`, id);
  }
});

t.test('every snapshot field and every kind of transcript entry is a row', async (t) => {
  const [shown, closed] = [toSnapshot(everyFact()), toSnapshot(newWorld({ local: 'none' }).state)];
  const known = [shown, closed].flatMap((one) => fieldsOf(one, ''));
  sameNames(t, 'snapshot ', known);
  sameNames(
    t,
    'transcript ',
    shown.transcript.map(({ kind }) => kind),
  );
});

/** Names of all fields, those of elements after the name of their list. */
function fieldsOf(value: unknown, before: string): readonly string[] {
  if (Array.isArray(value)) return value.flatMap((one) => fieldsOf(one, before));
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([name, one]) => [
    `${before}${name}`,
    ...fieldsOf(one, `${before}${name}.`),
  ]);
}

t.test('every approval policy and every option of a question is a row', async (t) => {
  sameNames(t, 'policy ', [...Object.keys(approvalPolicies), 'no sandbox']);
  const kinds = Object.entries(optionsOf).filter(([kind]) => kind !== 'sandbox_approval');
  sameNames(t, 'option ', [
    ...kinds.flatMap(([kind, options]) => options.map(([id]) => `${kind}/${id}`)),
    ...ids.flatMap((id) => (id.startsWith('option --') ? [id.slice('option '.length)] : [])),
  ]);
  t.strictSame(optionsOf.sandbox_approval, optionsOf.approval);
});
