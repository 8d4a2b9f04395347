import t from 'tap';
import { findApis } from '../../../../engine/frame/hints/api-urls.ts';
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

t.test('servers and paths of OpenAPI and Swagger descriptions make the URLs', async (t) => {
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

t.test('the text of an item is what the description says of the endpoint', async (t) => {
  const { objects, entries } = await sampleTree(t, { 'openapi.json': JSON.stringify(openapi) });
  const { urls } = await findApis(objects, entries, ['/users/{id}']);
  t.strictSame(JSON.parse(Buffer.from(urls[0]?.text ?? []).toString('utf8')), { '/users/{id}': users });
  t.equal(urls[0]?.description, 'openapi.json');
});

t.test('YAML and broken descriptions are said not to be read', async (t) => {
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
    'a/swagger.yml: YAML is not read',
    'b/openapi.json: not an API description in strict JSON',
    'c/openapi.json: not an API description in strict JSON',
    'openapi.yaml: YAML is not read',
  ]);
});

t.test('servers without a web address make no URL', async (t) => {
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

t.test('without a wish nothing is looked up or complained about', async (t) => {
  const { objects, entries } = await sampleTree(t, { 'openapi.yaml': '' });
  t.strictSame(await findApis(objects, entries, []), { urls: [], unresolved: [], gaps: [] });
});
