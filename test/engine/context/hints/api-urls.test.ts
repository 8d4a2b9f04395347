import t from 'tap';
import { findApis } from '../../../../engine/context/hints/api-urls.ts';
import { long } from '../../../rooms/long.ts';
import { sampleTree } from '../sample-tree.ts';

const users = { get: { summary: 'one user' } };
const openapi = {
  openapi: '3.1.0',
  servers: [
    { url: 'https://{region}.api.example.com/v1', variables: { region: { default: 'eu' } } },
    { url: '/relative' },
  ],
  paths: {
    '/users/{id}': users,
    '/users': {},
    '/other': { servers: [{ url: 'https://other.example.com/' }] },
    'no-slash': {},
    '/broken': 'text',
  },
};
const swagger = {
  swagger: '2.0',
  host: 'old.example.com',
  basePath: '/api',
  schemes: ['https'],
  paths: { '/pets': {} },
};

t.test('builds URLs from the servers and paths of OpenAPI and Swagger files', async (t) => {
  const { objects, entries } = await sampleTree(t, {
    'docs/openapi.v3.json': JSON.stringify(openapi),
    'swagger.json': JSON.stringify(swagger),
    'package.json': JSON.stringify({ ...openapi, servers: [{ url: 'https://no.example.com' }] }),
  });
  for (const [api, ...urls] of [
    ['/users/{id}', 'https://eu.api.example.com/v1/users/%7Bid%7D'],
    ['/users/{userId}', 'https://eu.api.example.com/v1/users/%7Bid%7D'],
    ['/users/42', 'https://eu.api.example.com/v1/users/%7Bid%7D'],
    ['/v1/users', 'https://eu.api.example.com/v1/users'],
    ['GET /users/', 'https://eu.api.example.com/v1/users'],
    ['/other', 'https://other.example.com/other'],
    ['/pets', 'https://old.example.com/api/pets'],
    ['/api/pets', 'https://old.example.com/api/pets'],
    ['/users/42/more'],
    ['/nowhere'],
    ['no-slash'],
    ['/broken'],
  ] as const) {
    const found = await findApis(objects, entries, [api]);
    t.strictSame(
      found.urls.map(({ url }) => url),
      urls,
      api,
    );
    t.strictSame(found.unresolved, urls.length === 0 ? [api] : [], api);
  }
});

t.test('the text of a URL item is the endpoint part of the API description', async (t) => {
  const { objects, entries } = await sampleTree(t, { 'openapi.json': JSON.stringify(openapi) });
  const { urls } = await findApis(objects, entries, ['/users/{id}']);
  t.strictSame(JSON.parse(Buffer.from(urls[0]?.text ?? []).toString('utf8')), { '/users/{id}': users });
  t.equal(urls[0]?.description, 'openapi.json');
});

t.test('reports broken API descriptions as gaps', async (t) => {
  const { objects, entries } = await sampleTree(t, {
    'openapi.yaml': 'openapi: 3.1.0',
    'a/swagger.yml': '',
    'b/openapi.json': '{',
    'c/openapi.json': '{"paths": []}',
    'd/openapi.json': { link: '/etc/passwd' },
  });
  const { urls, unresolved, gaps } = await findApis(objects, entries, ['/users']);
  t.strictSame(urls, []);
  t.strictSame(unresolved, ['/users']);
  t.strictSame([...gaps].sort(), [
    'a/swagger.yml: it holds no mapping',
    'b/openapi.json: it is not strict JSON',
    'c/openapi.json: not an API description',
    'openapi.yaml: not an API description',
  ]);
});

t.test('servers without a web address give no URL', async (t) => {
  for (const servers of [
    undefined,
    [],
    [{ url: '/v1' }],
    [{ url: 'ftp://example.com' }],
    [{ url: 3 }],
    'text',
    [null],
  ]) {
    const { objects, entries } = await sampleTree(t, {
      'openapi.json': JSON.stringify({ ...openapi, servers }),
    });
    t.strictSame((await findApis(objects, entries, ['/users'])).urls, [], JSON.stringify(servers));
  }
});

t.test('looks up nothing and reports nothing without API hints', async (t) => {
  const { objects, entries } = await sampleTree(t, { 'openapi.yaml': '' });
  t.strictSame(await findApis(objects, entries, []), { urls: [], unresolved: [], gaps: [] });
});

const yaml = `openapi: 3.1.0
x-limits: &limits { maximum: 5, nullable: true, default: null, pattern: "5" }
servers:
  - url: https://{region}.api.example.com/v1
    variables: { region: { default: eu } }
paths:
  /users/{id}: # one of them
    get:
      summary: one user
      parameters:
        - { name: id, schema: *limits }
      responses:
        200: { description: found }
`;
const limits = { maximum: 5, nullable: true, default: null, pattern: '5' };
const alike = {
  openapi: '3.1.0',
  'x-limits': limits,
  servers: [{ url: 'https://{region}.api.example.com/v1', variables: { region: { default: 'eu' } } }],
  paths: {
    '/users/{id}': {
      get: {
        summary: 'one user',
        parameters: [{ name: 'id', schema: limits }],
        responses: { 200: { description: 'found' } },
      },
    },
  },
};

t.test('a YAML description gives the same result as the JSON one', async (t) => {
  const found = async (name: string, text: string) => {
    const { objects, entries } = await sampleTree(t, { [name]: text });
    const { urls, gaps } = await findApis(objects, entries, ['/users/42']);
    return { urls: urls.map(({ url, text: said }) => [url, String(said)]), gaps };
  };
  const json = await found('openapi.json', JSON.stringify(alike));
  t.equal(json.urls.length, 1);
  t.strictSame(await found('openapi.yaml', yaml), json);
  t.strictSame(await found('swagger.YML', yaml.replaceAll('\n', '\r\n')), json);
});

long('skips YAML that is not JSON or expands too far, and reports the reason', async (t) => {
  const levels = Array.from({ length: 12 }, (_, at) =>
    at === 0 ? 'l0: &l0 [x, x, x, x, x, x, x, x]' : `l${at}: &l${at} [${`*l${at - 1}, `.repeat(8)}]`,
  );
  const wide = `big: &big [${'x, '.repeat(20_000)}]\nmore: [${'*big, '.repeat(60)}]`;
  const tooLarge = 'its content is too large, too deep or no JSON';
  for (const [hostile, reason] of [
    [levels.join('\n'), tooLarge],
    [wide, tooLarge],
    ['self: &self [*self]', tooLarge],
    ['number: .nan', tooLarge],
    [`deep: ${'['.repeat(200)}${']'.repeat(200)}`, 'it is not valid YAML'],
    ['twice: 1\ntwice: 2', 'it is not valid YAML'],
    ['made: !!js/function "x"', 'it is not valid YAML'],
    ['one: 1\n---\ntwo: 2', 'it holds several documents'],
    [`long: ${'x'.repeat(2 * 1024 * 1024)}`, `it is larger than ${2 * 1024 * 1024} characters`],
    [`long: ${'x'.repeat(4 * 1024 * 1024)}`, 'too large, or too many'],
  ] as const) {
    const { objects, entries } = await sampleTree(t, { 'openapi.yaml': `${yaml}${hostile}\n` });
    const { urls, gaps } = await findApis(objects, entries, ['/users/42']);
    t.strictSame({ urls, gaps }, { urls: [], gaps: [`openapi.yaml: ${reason}`] }, hostile.slice(0, 30));
  }
});
