import type { ExpectedAnswer, HostilePlace } from './hostile-row.ts';
import type { RawAnswer } from './read-answers.ts';

/** What no answer tells. */
type Secrets = Pick<HostilePlace, 'token' | 'root' | 'outside'>;

const onEveryAnswer = {
  'content-type': 'application/json; charset=utf-8',
  'cache-control': 'no-store',
  'x-content-type-options': 'nosniff',
};

/** Everything that is wrong with an answer, in words; nothing where it is the expected one and gives nothing away. */
export function judgeAnswer(
  place: Secrets,
  sent: Uint8Array,
  expected: ExpectedAnswer,
  { status, headers, body }: RawAnswer,
): readonly string[] {
  const found: string[] = [];
  const want = (what: string, isSo: boolean): void => {
    if (!isSo) found.push(`${what}: ${status} ${JSON.stringify(headers)} ${body.slice(0, 400)}`);
  };
  want(`expected status ${expected.status}`, status === expected.status);
  if (expected.status === 100) return found;
  for (const [name, value] of Object.entries(onEveryAnswer))
    want(`expected ${name}`, headers[name] === value);
  for (const name of Object.keys(headers))
    want(
      `unexpected header ${name}`,
      !/^(?:access-control-|set-cookie|server|x-powered|location|unsound)/.test(name),
    );
  want('allow', headers.allow === expected.allow);
  if (expected.code !== undefined) want(`expected code ${expected.code}`, isEnvelope(body, expected.code));
  else if (expected.status === 200 && body !== '') want('no JSON', parse(body) !== undefined);
  if (expected.body !== undefined)
    want(`expected ${JSON.stringify(expected.body)}`, body === `${JSON.stringify(expected.body)}\n`);
  for (const secret of leaks(place, sent, body + JSON.stringify(headers)))
    want(`gives away ${secret}`, false);
  return found;
}

function isEnvelope(body: string, code: string): boolean {
  const value = parse(body) as { readonly error?: Readonly<Record<string, unknown>> } | undefined;
  const { error } = value ?? {};
  return (
    error !== undefined &&
    Object.keys(value ?? {}).join() === 'error' &&
    Object.keys(error).every((name) => ['code', 'message', 'details'].includes(name)) &&
    error.code === code &&
    typeof error.message === 'string' &&
    error.message !== '' &&
    body.endsWith('}\n')
  );
}

/** A path that the client has named itself is no news to it; the token is one all the same. */
function leaks({ token, root, outside }: Secrets, sent: Uint8Array, text: string): readonly string[] {
  const told = Buffer.from(sent).toString('latin1');
  return [
    ...(text.includes(token) ? ['the token'] : []),
    ...[root, outside, process.cwd()].filter((path) => text.includes(path) && !told.includes(path)),
    ...(/node:internal|file:\/\/\/|\\n\s+at |node_modules/.exec(text) ?? []).filter(
      (part) => !told.includes(part),
    ),
  ];
}

function parse(body: string): unknown {
  try {
    return JSON.parse(body);
  } catch {
    return undefined;
  }
}
