import t from 'tap';
import { isWritError } from '../../core/base/errors.ts';
import { type Discovery, formatDiscovery, parseDiscovery } from '../../http/private-files.ts';

const sound: Discovery = {
  version: 1,
  mode: 'service',
  pid: 4711,
  baseUrl: 'http://127.0.0.1:40123',
  workingDir: '/srv/a "b"\n',
  startedAt: '2026-01-02T03:04:05.678Z',
};

t.test('reads a discovery file back as it was written', async (t) => {
  const text = formatDiscovery(sound);
  t.equal(text.at(-1), '\n');
  t.strictSame(parseDiscovery(text, 'x'), sound);
  for (const baseUrl of ['http://127.9.8.7:1', 'http://[::1]:65535'])
    t.strictSame(parseDiscovery(formatDiscovery({ ...sound, baseUrl }), 'x').baseUrl, baseUrl);
  const session = { ...sound, mode: 'write', mcpUrl: 'http://[::1]:6789/mcp', threadId: 't' };
  t.strictSame(parseDiscovery(formatDiscovery(session), 'x'), session, 'of a session, too');
  const more = JSON.stringify({ ...sound, later: 'a field of a later version' });
  t.strictSame(parseDiscovery(more, 'x'), sound, 'what it does not know it leaves out');
});

t.test('refuses a discovery file whose URL is not a plain loopback address', async (t) => {
  const elsewhere = [
    'http://evil.example:80',
    'https://127.0.0.1:1',
    'http://localhost:1',
    'http://10.0.0.1:1',
    'http://127.1:1',
    'http://0.0.0.0:1',
    'http://[::]:1',
    'http://[::ffff:127.0.0.1]:1',
    'http://127.0.0.1',
    'http://127.0.0.1:1/',
    'http://127.0.0.1:1/path',
    'http://127.0.0.1:1?x',
    'http://127.0.0.1:123456',
    'http://user@127.0.0.1:1',
    'http://127.0.0.1:1@evil.example:1',
    'http://127.0.0.1.evil.example:1',
    'HTTP://127.0.0.1:1',
    ' http://127.0.0.1:1',
    'http://127.0.0.1:1\n',
    'file:///etc/passwd',
    '',
  ];
  for (const baseUrl of elsewhere) {
    const text = formatDiscovery({ ...sound, baseUrl });
    t.throws(() => parseDiscovery(text, 'x'), { code: 'PRIVATE_FILE_UNSAFE' }, JSON.stringify(baseUrl));
    const other = formatDiscovery({ ...sound, mcpUrl: `${baseUrl}/mcp` });
    // With the path of MCP behind it, these are sound.
    if (!/^http:..127.0.0.1:1(?:.path)?$/.test(baseUrl) && !/:1.$/.test(baseUrl))
      t.throws(() => parseDiscovery(other, 'x'), { code: 'PRIVATE_FILE_UNSAFE' }, `${baseUrl}/mcp`);
  }
});

t.test('refuses a malformed discovery file and reports its path', async (t) => {
  const broken: readonly unknown[] = [
    null,
    [],
    7,
    'text',
    {},
    { ...sound, version: 2 },
    { ...sound, version: '1' },
    { ...sound, mode: undefined },
    { ...sound, pid: 0 },
    { ...sound, pid: -1 },
    { ...sound, pid: 1.5 },
    { ...sound, pid: '4711' },
    { ...sound, baseUrl: 7 },
    { ...sound, workingDir: undefined },
    { ...sound, startedAt: 7 },
  ];
  const texts = ['', '{', '{"version":1,"version":1}', `${formatDiscovery(sound)}x`, '\ufeff{}'];
  for (const text of [...texts, ...broken.map((value) => JSON.stringify(value))]) {
    try {
      parseDiscovery(text, '/place/service.json');
      t.fail(`taken: ${text}`);
    } catch (fault) {
      t.ok(isWritError(fault, 'PRIVATE_FILE_UNSAFE'), text);
      if (isWritError(fault)) t.strictSame(fault.detail, { path: '/place/service.json' });
    }
  }
});
